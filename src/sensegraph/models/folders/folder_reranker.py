"""A reranker from a folder of the user's: a cross-encoder in ONNX form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sensegraph.errors import SettingsError
from sensegraph.models.folders.model_folder import ModelFolder, OnnxModel
from sensegraph.runtime.keys import key
from sensegraph.types import Usage

SETTING = "rerank.model"


class FolderReranker:
    """A model in `model`, a folder, that reads question and text together; of a long text its best piece counts.

    Scores are those of the model as they are: of one column that, of two the second less the first. Raises
    SettingsError where the folder holds no such model, or the extra `onnx` is not there.
    """

    waits = True  # for the model's own threads
    name = "folder"

    def __init__(self, model: str, top: int = 50) -> None:
        if not model:
            raise SettingsError("rerank.by = folder needs rerank.model: a folder with a model in ONNX form.")
        self.model, self.top = model, top
        self.folder = ModelFolder(Path(model), SETTING)
        if self.folder.form != "onnx":
            raise self.folder.refuse("holds a table of vectors", "it may serve as embedding.folder")
        self._onnx = OnnxModel(self.folder)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.model, self.top)

    def fingerprint(self) -> str:
        """What is in the folder; where it lies changes no score."""
        return key("folder reranker", 1, self.folder.content)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text fits: higher is better."""
        if not texts:
            return []
        asked = self._onnx.cut_text(question, self.folder.window // 2)[0]
        owners, pieces = self._onnx.encode(texts, asked, pair=True)
        best = np.full(len(texts), -np.inf)
        for positions, output in self._onnx.run(pieces):
            if output.ndim == 3 or output.shape[-1] > 2:
                raise self.folder.refuse("holds a model that embeds or labels", "a reranker gives one number a pair")
            columns = output.reshape(len(positions), -1)
            found = columns[:, -1] - columns[:, 0] if columns.shape[1] == 2 else columns[:, 0]
            np.maximum.at(best, [owners[i] for i in positions], found)
        return [float(score) for score in best]

    def usage(self) -> Usage:
        """Nothing: it calls no one."""
        return Usage()
