"""Routes that change a corpus: files that are sent, what indexing them would cost, and jobs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import asdict
from functools import partial
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from sensegraph.corpus import views
from sensegraph.corpus.corpus import Corpus
from sensegraph.errors import EmptyCorpus, InputError, NotIndexed
from sensegraph.server.http.bodies import JobBody, NoBody
from sensegraph.server.http.corpora import JSON, Library, ServedCorpus
from sensegraph.server.http.failures import Refused
from sensegraph.server.http.routes import Endpoint, decode_name, pack_object, read_body, read_query_flag, read_tail
from sensegraph.server.http.streams import EventResponse, format_event
from sensegraph.server.inputs import check_input, find_base, find_input
from sensegraph.server.jobs.job_request import JobRequest, Kind
from sensegraph.server.jobs.jobs import Job, Jobs
from sensegraph.server.jobs.uploads import InputFolder

_SENT = 1000  # files of one request


class JobRoutes:
    """The handlers."""

    def __init__(self, library: Library, jobs: Jobs) -> None:
        self._library, self._jobs = library, jobs

    def endpoints(self) -> list[Endpoint]:
        """All of them."""
        c, job = "/api/v1/{corpus}", "/api/v1/{corpus}/jobs/{job}"
        events = "text/event-stream"
        return [
            Endpoint("PUT", f"{c}/documents/{{name:path}}", self.store_file, "Send a file.", "write"),
            Endpoint("POST", f"{c}/documents", self.store_files, "Send files as a form, or archives.", "write"),
            Endpoint(
                "DELETE", f"{c}/documents/{{name:path}}", self.remove_document, "Remove a document, in a job.",
                "write", query=("plan",),
            ),
            Endpoint("DELETE", f"{c}/input/{{name:path}}", self.remove_file, "Take a sent file away.", "write"),
            Endpoint("POST", f"{c}/plan", self.plan, "What indexing would compute and cost.", "write", NoBody),
            Endpoint("POST", f"{c}/jobs", self.start_job, "Start a job.", "write", JobBody),
            Endpoint("GET", f"{c}/jobs", self.list_jobs, "The jobs, newest first."),
            Endpoint("GET", job, self.show_job, "A job."),
            Endpoint("DELETE", job, self.stop_job, "Stop a job; what it computed is kept.", "write"),
            Endpoint("GET", f"{job}/events", self.follow_job, "A job as it runs.", gives=events),
        ]  # fmt: skip

    def _served(self, request: Request) -> ServedCorpus:
        return self._library.find(request.path_params["corpus"])

    def _folder(self, served: ServedCorpus) -> InputFolder:
        return InputFolder(served.input, self._library.options.limits)

    # ── files ──

    async def store_file(self, request: Request) -> Response:
        """A file by its bytes. Nothing is computed, or paid."""
        folder, name = self._folder(self._served(request)), decode_name(read_tail(request))
        try:
            done = await folder.store(name, request.stream())
        except ClientDisconnect as e:
            raise InputError(f"{name[:80]} did not come whole.") from e
        return pack_object(asdict(done), request, status=201 if done.new else 200)

    async def store_files(self, request: Request) -> Response:
        """Files of a form, and those in archives."""
        folder = self._folder(self._served(request))
        stored, refused = list[JSON](), list[JSON]()
        async with request.form(max_files=_SENT, max_fields=10) as form:
            for sent in form.getlist("files"):
                if not isinstance(sent, UploadFile):
                    raise InputError("The field `files` must hold files.")
                name = sent.filename or ""
                try:
                    if name.lower().endswith(".zip"):
                        done, left = await self._library.workers.read(partial(folder.unpack, sent.file))
                        stored += [asdict(s) for s in done]
                        refused += [{"name": n, "reason": why} for n, why in left]
                    else:
                        stored.append(asdict(await folder.store(name, _read_upload(sent))))
                except InputError as e:
                    refused.append({"name": name[:200], "reason": str(e)})
        if not stored and not refused:
            raise InputError("No file was sent: send a form with the field `files`.")
        return pack_object({"files": stored, "refused": refused}, request)

    async def remove_file(self, request: Request) -> Response:
        """A file that is not wanted after all."""
        name = decode_name(read_tail(request))
        if not self._folder(self._served(request)).remove(name):
            raise Refused(404, f"There is no file {name[:80]!r} in the folder input.")
        return Response(None, 204)

    async def remove_document(self, request: Request) -> Response:
        """A document with its file; or only what it has."""
        served, name = self._served(request), decode_name(read_tail(request))

        def look(corpus: Corpus) -> JSON:
            if name not in corpus.document_keys():
                raise Refused(404, f"There is no document {name[:80]!r} in this corpus.")
            return _count_parts(corpus, name, served.original(name) is not None)

        found = await self._library.workers.read(lambda: served.read(look))
        if read_query_flag(request, "plan"):
            return pack_object(found, request)
        return await self._start(request, served, "remove", (name,))

    # ── what it would cost ──

    async def plan(self, request: Request) -> Response:
        """What `sync` would do, and what the build after it would compute."""
        await read_body(request, NoBody)
        served = self._served(request)

        def look(corpus: Corpus) -> JSON:
            folder = find_input(corpus)
            check_input(corpus, shown=self._library.options.local)
            if not folder.is_dir():
                raise EmptyCorpus("No file was sent yet; send one first.")
            plan = corpus.mirror.plan(folder, estimate=True, base=find_base(corpus))
            seconds = views.estimate_seconds(plan.estimate, corpus.settings.endpoint) if plan.estimate else 0.0
            return views.view_plan(plan, seconds)

        return pack_object(await self._library.workers.read(lambda: served.read(look)), request)

    # ── jobs ──

    async def start_job(self, request: Request) -> Response:
        """A job that brings the index up to date or the store in order, or finds and decides what is one thing."""
        body = await read_body(request, JobBody)
        if (len(body.names) > 1) != (body.kind in ("merge", "forbid")):
            raise InputError("The kinds `merge` and `forbid`, and no others, take two `names` or more.")
        return await self._start(request, self._served(request), body.kind, names=tuple(body.names))

    async def _start(
        self,
        request: Request,
        served: ServedCorpus,
        kind: Kind,
        documents: tuple[str, ...] = (),
        names: tuple[str, ...] = (),
    ) -> Response:
        given: dict[str, Any] = dict(self._library.options.settings)
        wanted = JobRequest(kind, str(served.corpus.root.resolve()), given, documents, names)
        job = await self._jobs.start(served.name, wanted)
        return pack_object(job.view(), request, {"Location": f"/api/v1/{served.name}/jobs/{job.id}"}, 202)

    def _job(self, request: Request) -> Job:
        return self._jobs.find(self._served(request).name, request.path_params["job"])

    async def list_jobs(self, request: Request) -> Response:
        """The jobs that are remembered."""
        return pack_object({"jobs": [job.view() for job in self._jobs.list(self._served(request).name)]}, request)

    async def show_job(self, request: Request) -> Response:
        """A job as it is now."""
        return pack_object(self._job(request).view(), request)

    async def stop_job(self, request: Request) -> Response:
        """A job that is to stop."""
        job = self._job(request)
        if job.state == "running":
            job.stop()
        return pack_object(job.view(), request, status=202)

    async def follow_job(self, request: Request) -> Response:
        """The events of a job: those after `Last-Event-ID`, and those to come."""
        job, last = self._job(request), request.headers.get("last-event-id", "")
        limits = self._library.options.limits

        async def pieces() -> AsyncGenerator[bytes]:
            after = int(last) if last.isascii() and last.isdigit() else 0
            async for event in job.follow(after, limits.heartbeat):
                yield format_event(event[1], event[2], event[0]) if event else b": heartbeat\n\n"

        return EventResponse(pieces(), limits, lambda: None)


async def _read_upload(sent: UploadFile) -> AsyncGenerator[bytes]:
    while piece := await sent.read(1 << 18):
        yield piece


def _count_parts(corpus: Corpus, name: str, has_file: bool) -> JSON:
    """What goes when a document is removed."""
    try:
        rows, _ = corpus.browser.documents(name, limit=500)
        entities = next((row.entities for row in rows if row.id == name), 0)
    except NotIndexed:
        entities = 0
    return {"document": name, "file": has_file, "entities": entities}
