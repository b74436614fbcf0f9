// A drawing in units of the map on a canvas: what is seen of it, how fingers and keys move it, and letters that never
// stand over each other.

const STILL = matchMedia("(prefers-reduced-motion: reduce)");

export class Canvas {
  constructor(canvas, {draw, point, choose}) {
    Object.assign(this, {canvas, paint: draw, point, choose, x: 0, y: 0, zoom: 1, queued: false, fingers: new Map(), moved: 0});
    this.pen = canvas.getContext("2d");
    new ResizeObserver(() => { this.resized(); }).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    canvas.addEventListener("pointerdown", event => this.down(event));
    canvas.addEventListener("pointermove", event => this.move(event));
    canvas.addEventListener("pointerup", event => this.up(event));
    canvas.addEventListener("pointercancel", event => this.fingers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      this.zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)));
    }, {passive: false});
  }

  get width() { return this.canvas.clientWidth; }
  get height() { return this.canvas.clientHeight; }

  resized() {
    if (this.target && this.width) this.fit(this.target, false);
    else this.redraw();
  }

  redraw() {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => { this.queued = false; this.render(); });
  }

  render() {
    const {pen, canvas, width, height} = this, ratio = devicePixelRatio || 1;
    if (!width || !height) return;
    const [w, t] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== t) Object.assign(canvas, {width: w, height: t});
    const style = getComputedStyle(canvas);
    this.roles = Object.fromEntries(["paper", "ink", "soft", "line", "link", "glow"].map(n => [n, style.getPropertyValue("--" + n).trim()]));
    this.face = style.fontFamily;
    this.taken = [];
    this.dots = [];
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.paint(this);
  }

  // Work in units of the map.
  inside(work) {
    this.pen.save();
    this.pen.translate(this.x, this.y);
    this.pen.scale(this.zoom, this.zoom);
    work(this.pen);
    this.pen.restore();
  }

  place(one) { return [one.x * this.zoom + this.x, one.y * this.zoom + this.y, (one.r || 0) * this.zoom]; }

  // ── letters ──

  // No name stands over this dot.
  avoid(one) {
    const [x, y, r] = this.place(one);
    this.dots.push([x - r * 0.8, y - r * 0.8, x + r * 0.8, y + r * 0.8]);
  }

  write(lines, x, y, {size, bold = false, always = false, soft = false}) {
    const {pen} = this;
    pen.font = `${bold ? 600 : 400} ${size}px ${this.face}`;
    const wide = Math.max(...lines.map(line => pen.measureText(line).width)), tall = lines.length * size * 1.22;
    const box = [x - wide / 2 - 2, y - tall / 2, x + wide / 2 + 2, y + tall / 2];
    const out = box[0] < 2 || box[1] < 2 || box[2] > this.width - 2 || box[3] > this.height - 2;
    const meets = t => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1];
    if (!always && (out || this.taken.some(meets) || (!bold && this.dots.some(meets)))) return false;
    this.taken.push(box);
    Object.assign(pen, {textAlign: "center", textBaseline: "middle", lineJoin: "round", lineWidth: 3.5, strokeStyle: this.roles.paper});
    pen.fillStyle = soft ? this.roles.soft : this.roles.ink;
    lines.forEach((line, n) => {
      const at = y - tall / 2 + size * 1.22 * (n + 0.5);
      pen.globalAlpha = 0.8;
      pen.strokeText(line, x, at);
      pen.globalAlpha = 1;
      pen.fillText(line, x, at);
    });
    return true;
  }

  wrap(text, most, size) {
    this.pen.font = `600 ${size}px ${this.face}`;
    const lines = [];
    for (const word of text.split(/\s+/)) {
      const joined = lines.length ? lines.at(-1) + " " + word : word;
      if (lines.length && this.pen.measureText(joined).width <= most) lines[lines.length - 1] = joined;
      else lines.push(word);
    }
    return lines.length > 3 ? [...lines.slice(0, 2), lines[2] + " …"] : lines;
  }

  // ── moving ──

  bounded(zoom) { return Math.min(40, Math.max(0.05, zoom)); }

  zoomAt(x, y, factor) {
    const zoom = this.bounded(this.zoom * factor);
    Object.assign(this, {x: x - (x - this.x) * zoom / this.zoom, y: y - (y - this.y) * zoom / this.zoom, zoom, target: null});
    this.redraw();
  }

  shift(x, y) {
    Object.assign(this, {x: this.x + x, y: this.y + y, target: null});
    this.redraw();
  }

  // Bring a box of the map ([left, top, right, bottom]) into view.
  fit(box, moving = true) {
    this.target = box;
    const side = Math.min(40, this.width / 12), above = 56, below = 40; // room for what lies over the map
    const w = Math.max(box[2] - box[0], 1), t = Math.max(box[3] - box[1], 1), tall = this.height - above - below;
    const zoom = this.bounded(Math.min((this.width - 2 * side) / w, tall / t));
    const end = {zoom, x: this.width / 2 - zoom * (box[0] + box[2]) / 2, y: above + tall / 2 - zoom * (box[1] + box[3]) / 2};
    if (!moving || STILL.matches || !this.width) {
      Object.assign(this, end);
      return this.redraw();
    }
    const begin = {x: this.x, y: this.y, zoom: this.zoom}, from = performance.now();
    const frame = now => {
      if (this.target !== box) return;
      const part = Math.min(1, (now - from) / 380), eased = 1 - (1 - part) ** 3;
      this.zoom = begin.zoom * (end.zoom / begin.zoom) ** eased;
      const gone = end.zoom === begin.zoom ? eased : (this.zoom - begin.zoom) / (end.zoom - begin.zoom);
      this.x = begin.x + (end.x - begin.x) * gone;
      this.y = begin.y + (end.y - begin.y) * gone;
      this.render();
      if (part < 1) requestAnimationFrame(frame);
    };
    return requestAnimationFrame(frame);
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    this.moved = 0;
  }

  move(event) {
    const before = this.fingers.get(event.pointerId), now = [event.offsetX, event.offsetY];
    if (!before) return this.point(now);
    this.moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    const other = [...this.fingers].find(([id]) => id !== event.pointerId);
    this.fingers.set(event.pointerId, now);
    if (!other) return this.moved > 4 && this.shift(now[0] - before[0], now[1] - before[1]);
    const [x, y] = other[1], far = Math.hypot(now[0] - x, now[1] - y), was = Math.hypot(before[0] - x, before[1] - y);
    return was && far && this.zoomAt(x, y, far / was);
  }

  up(event) {
    const alone = this.fingers.size === 1;
    this.fingers.delete(event.pointerId);
    if (alone && this.moved < 6) this.choose([event.offsetX, event.offsetY]);
  }
}
