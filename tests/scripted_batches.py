"""A scripted server that also answers in batches, in the form of OpenAI's interface: files, batches, downloads.

What one request gets in a batch is a function of how often it has come (`told`); how a whole batch ends, too (`ends`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from scripted import Body, Script, ScriptedServer

Answer = tuple[int, bytes, dict[str, str]] | str


class BatchServer(ScriptedServer):
    """`polls` readings of a batch say that it runs. `most` requests may wait in one, `lost` creations get no reply.

    `told` gives for the body of a request, and how often it has come, a status and an error in place of the reply, or
    `expired`. `ends` is the status at the end of each batch in turn, `completed` where it names none.
    """

    def __init__(
        self,
        script: Script | None = None,
        polls: int = 1,
        told: Callable[[Body, int], tuple[int, Body] | str | None] = lambda body, time: None,
        ends: tuple[str, ...] = (),
        most: int = 0,
        lost: int = 0,
    ) -> None:
        super().__init__(script)
        self.polls, self.told, self.ends, self.most, self.lost = polls, told, ends, most, lost
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Body] = {}
        self.asked: Counter[str] = Counter()  # requests that a batch answered, by custom id
        self.requests: list[str] = []

    def ordered(self) -> Counter[str]:
        """How often each request stands in a batch that was made, read or not: so often it is paid."""
        files = [self.files[one["input"]] for one in self.batches.values()]
        return Counter(json.loads(line)["custom_id"] for file in files for line in file.splitlines())

    def decide(self, path: str, key: str, raw: bytes) -> Answer:
        """As the plain server, but for what concerns batches."""
        if not re.match(r"/v1/(files|batches)", path):
            return super().decide(path, key, raw)
        self.requests.append(f"{'POST' if raw else 'GET'} {path}")
        if path == "/v1/files":
            assert b'name="purpose"\r\n\r\nbatch\r\n' in raw
            lines = raw.split(b"Content-Type: application/jsonl\r\n\r\n")[1].rpartition(b"\r\n--")[0]
            self.files[f"file-{len(self.files)}"] = lines
            return _page({"id": f"file-{len(self.files) - 1}", "purpose": "batch"})
        if path.startswith("/v1/files/"):
            return 200, self.files[path.split("/")[3]], {}
        if path.startswith("/v1/batches?"):
            return _page({"data": list(self.batches.values())})
        if path == "/v1/batches":
            return self._create(json.loads(raw))
        return _page(self._advance(self.batches[path.rpartition("/")[2]]))

    def _create(self, body: Body) -> Answer:
        assert body["endpoint"] == "/v1/chat/completions"
        assert body["completion_window"] == "24h"
        lines = self.files[body["input_file_id"]].splitlines()
        made: Body = {"id": f"batch-{len(self.batches)}", "metadata": body["metadata"], "status": "in_progress"}
        made |= {"input": body["input_file_id"], "left": self.polls, "number": len(self.batches)}
        made["request_counts"] = {"total": len(lines), "completed": 0, "failed": 0}
        self.batches[made["id"]] = made
        if self.lost:
            self.lost -= 1
            return "drop"
        return _page(made)

    def _advance(self, one: Body) -> Body:
        if one["status"] != "in_progress":
            return one
        one["left"] -= 1
        if one["left"] < 0:
            lines = [json.loads(line) for line in self.files[one["input"]].splitlines()]
            if self.most and len(lines) > self.most:
                said = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached for scripted."}
                return self._end(one, "failed", errors={"data": [said]})
            status = dict(enumerate(self.ends)).get(one["number"], "completed")
            if status == "failed":
                return self._end(one, status, errors={"data": [{"code": "invalid", "message": "No such model."}]})
            kept = lines[: len(lines) // 2] if status in ("expired", "cancelled") else lines
            good, bad = self._answered(kept)
            return self._end(one, status, output_file_id=self._put(good), error_file_id=self._put(bad))
        return one

    def _answered(self, lines: list[Body]) -> tuple[list[Body], list[Body]]:
        good, bad = list[Body](), list[Body]()
        for line in lines:
            assert line["url"] == "/v1/chat/completions"
            assert "stream" not in line["body"]
            self.asked[line["custom_id"]] += 1
            told = self.told(line["body"], self.asked[line["custom_id"]])
            own = {"custom_id": line["custom_id"], "response": None, "error": None}
            if told == "expired":
                bad.append(own | {"error": {"code": "batch_expired", "message": "It could not be done in time."}})
            elif isinstance(told, tuple):
                bad.append(own | {"response": {"status_code": told[0], "body": {"error": told[1]}}})
            else:
                reply = json.loads(self._answer("/v1/chat/completions", line["body"], ""))
                good.append(own | {"response": {"status_code": 200, "body": reply}})
        return good, bad

    def _put(self, lines: list[Body]) -> str | None:
        if not lines:
            return None
        self.files[f"file-{len(self.files)}"] = b"\n".join(json.dumps(line).encode() for line in lines) + b"\n"
        return f"file-{len(self.files) - 1}"

    def _end(self, one: Body, status: str, **more: Any) -> Body:
        one |= {"status": status} | more
        one["request_counts"]["completed"] = one["request_counts"]["total"]
        return one


def _page(value: Body) -> tuple[int, bytes, dict[str, str]]:
    return 200, json.dumps(value).encode(), {}
