"""A static table of vectors from the co-occurrence of words in texts at hand, and what it brings to retrieval.

    python bench/static_table.py [--data DIR] [--set NAME[-untitled] …] [--out DIR] [--dim 256] [--words 40000] [--only]

Trains on the texts of all sets under DIR (documents only: no question, no judgement) a table in the form that
`embedding.folder` reads: word pieces, positive pointwise mutual information within five pieces, a singular value
decomposition, and weights that are small for frequent pieces. A second table leaves out the measured set (`others`).
Then `sensegraph eval retrieval` measures methods with the offline embedder and with each table. A row is a method
on a set: recall@5 under every embedder, and the difference of each from the offline embedder's with its 95 % interval
over questions (bootstrap). `--only` trains and measures nothing. Needs the extras `onnx` and `dev`.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from client import options, sensegraph, table

SETS = ("lihua-world", "multihop-news", "musique-untitled")
METHODS = "bm25,naive,hybrid,walk"
METRIC = "recall@5"
WINDOW, SMOOTHED, RARE = 5, 0.75, 1e-3
DRAWS = 10_000


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--set", action="append", dest="sets", help="one of the sets; repeatable")
    parser.add_argument("--out", default="bench/out/static-table", help="folder for tables and indexes")
    parser.add_argument("--dim", type=int, default=256)
    parser.add_argument("--words", type=int, default=40_000, help="pieces of the table")
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--only", action="store_true", help="train the tables and measure nothing")
    given = parser.parse_args()
    data, out, names = Path(given.data), Path(given.out), given.sets or SETS
    tables = {"all": train(data, out / "all", "", given)}
    rows: list[list[Any]] = []
    for name in names:
        known = name.removesuffix("-untitled")
        tables["others"] = train(data, out / f"without-{known}", known, given)
        if not given.only:
            rows += measured(data / known, name, tables, given)
    if rows:
        table(["set", "method", "offline", *(f"{n} [95 %]" for n in tables)], rows)


# ── the table ──


def train(data: Path, folder: Path, without: str, given: Any) -> Path:
    """The folder of a table trained on all sets but one; one that is there is kept."""
    if (folder / "model.safetensors").exists():
        return folder
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    began = time.process_time()
    texts = [text for path in sorted(data.glob("*/corpus.jsonl")) if path.parent.name != without for text in read(path)]
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(
        texts, trainers.WordPieceTrainer(vocab_size=given.words, min_frequency=3, special_tokens=["[UNK]"])
    )
    ids = [np.array(one.ids, np.int64) for one in made.encode_batch(texts)]
    rows, weights = factorised(ids, made.get_vocab_size(), given.dim)
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    write(folder / "model.safetensors", {"embeddings": rows.astype("<f4"), "weights": weights.astype("<f4")})
    count, size = sum(map(len, ids)), sum(len(t.encode()) for t in texts) / 1e6
    print(
        f"{folder.name}: {count:,} pieces of {size:.1f} MB, {len(rows):,} rows, {time.process_time() - began:.0f} CPU s"
    )
    return folder


def read(path: Path) -> Iterator[str]:
    """The documents of a set, each once."""
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        yield f"{record.get('title') or ''}\n{record['text']}".strip()


def factorised(
    ids: Sequence[NDArray[np.int64]], size: int, dim: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The vector and the weight of each piece."""
    from scipy.sparse import coo_matrix, diags
    from sklearn.utils.extmath import randomized_svd

    whole = np.concatenate([part for one in ids for part in (one, np.full(WINDOW, -1))])
    counts = coo_matrix((size, size)).tocsr()
    for far in range(1, WINDOW + 1):
        left, right = whole[:-far], whole[far:]
        both = (left >= 0) & (right >= 0)
        near = coo_matrix((np.full(both.sum(), 1 / far), (left[both], right[both])), shape=(size, size)).tocsr()
        counts = counts + near + near.T
    own = np.asarray(counts.sum(axis=1)).ravel()
    context = own**SMOOTHED / (own**SMOOTHED).sum()
    inverse = np.divide(1.0, own, out=np.zeros_like(own), where=own > 0)
    shares = (diags(inverse) @ counts @ diags(1 / np.maximum(context, 1e-12))).tocsr()
    shares.data = np.maximum(np.log(shares.data), 0)
    shares.eliminate_zeros()
    left, values, _ = randomized_svd(shares, dim, n_iter=4, random_state=0)
    frequency = Counter(whole[whole >= 0].tolist())
    total = sum(frequency.values())
    weights = np.array([RARE / (RARE + frequency[i] / total) for i in range(size)])
    rows = left * np.sqrt(values)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return rows - (weights[:, None] * rows).sum(axis=0) / weights.sum(), weights


def write(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """A safetensors file of float32."""
    header, at = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    head = json.dumps(header).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + b"".join(a.tobytes() for a in arrays.values()))


# ── what it brings ──


def measured(data: Path, name: str, tables: dict[str, Path], given: Any) -> list[list[Any]]:
    """A row for each method on one set."""
    methods = given.methods.split(",")
    found = {"offline": scores(data, name, None, given)}
    found |= {n: scores(data, name, folder, given) for n, folder in tables.items()}
    rows = []
    for method in methods:
        before = found["offline"][method]
        cells = [f"{100 * before.mean():.1f}"]
        cells += [compared(before, found[n][method]) for n in tables]
        rows.append([f"{name} ({len(before)})", method, *cells])
    return rows


def scores(data: Path, name: str, folder: Path | None, given: Any) -> dict[str, NDArray[np.float64]]:
    """The measure of every question under every method, with the offline embedder or a table."""
    words = ["--data", str(data), "--methods", given.methods, "--json", "--set", "engine=offline"]
    words += ["--delete-titles"] if name.endswith("-untitled") else []
    by = "offline" if folder is None else folder.name
    words += ["--root", str(Path(given.out) / "indexes" / f"{name}-{by}")]
    words += (
        ["--set", "embedder=offline"]
        if folder is None
        else ["--set", f"embedding.folder={json.dumps(str(folder.resolve()))}"]
    )
    run = sensegraph("eval", "retrieval", *words)
    if run.code:
        sys.exit(f"{name}: {run.err}")
    one = json.loads(run.out)["sets"][0]
    print(f"{name}, {by}: {run.cpu_s:.0f} CPU s, {run.peak_mb:.0f} MB", file=sys.stderr)
    return {m: np.array([q["methods"][m][METRIC] for q in one["queries"]]) for m in given.methods.split(",")}


def compared(before: NDArray[np.float64], now: NDArray[np.float64]) -> str:
    """A mean, and the difference with its interval."""
    gaps = now - before
    draw = np.random.default_rng(0)
    means = gaps[draw.integers(0, len(gaps), (DRAWS, len(gaps)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{100 * now.mean():.1f} ({100 * gaps.mean():+.1f} [{100 * low:+.1f}, {100 * high:+.1f}])"


if __name__ == "__main__":
    main()
