"""A local causal language model: a folder of weights, tuned or not, that continues a text.

The libraries are those of the extra `finetune`; they are imported when the model is first used.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from sensegraph.errors import InputError, SettingsError
from sensegraph.runtime.keys import hash_files, key

NEEDED = ("torch", "transformers", "peft")
_ADAPTER = "adapter_config.json"
_SMALL = 10_000_000  # weights of a model for which one thread is best

Device = Literal["auto", "cpu", "cuda"]


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """A local model, by the extra `finetune`: for engine = "local".

    `model` is a folder as `sensegraph tune` writes it or as transformers reads it, or a name that its cache holds.
    `prompt` says what an answer is asked with: what the model was trained on where its folder says it (`auto`), that
    or an error (`trained`), or the numbered tables of every other model (`tables`). Texts of more than
    `context_tokens` of the model's own tokens are refused; 0 takes what the model says of itself.
    """

    model: str = ""
    device: Device = "auto"
    quantisation: Literal["none", "4bit"] = "none"
    prompt: Literal["auto", "trained", "tables"] = "auto"
    context_tokens: int = 0

    def rooted(self, root: Path) -> LocalSettings:
        """The same with the model's folder meant from `root`, where it is one."""
        return replace(self, model=str(root / self.model)) if self.model and (root / self.model).is_dir() else self


@dataclass(frozen=True, slots=True)
class Continued:
    """How a model continued a text: `finish` is `stop` where it ended by itself, `length` at the limit."""

    text: str
    prompt_tokens: int
    tokens: int
    finish: str


class TooLong(InputError):
    """A prompt that leaves no room in the model's context; the message gives the figures."""


def require_extra(what: str, modules: Sequence[str] = NEEDED) -> None:
    """Raise SettingsError, with what to install, where a library of the extra `finetune` is missing."""
    if missing := [name for name in modules if find_spec(name) is None]:
        raise SettingsError(f"{what} needs {', '.join(missing)}: pip install 'sensegraph[finetune]'.")


def render_talk(messages: Sequence[Mapping[str, str]], tokenizer: Any) -> str:
    """A talk as the text that the model continues: by the tokenizer's own template, else parts with empty lines.

    Without a template the text ends with `Answer:`, as the completion form of training data does.
    """
    if getattr(tokenizer, "chat_template", None):
        return str(tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True))
    return "\n\n".join([*(m["content"].strip() for m in messages), "Answer:"])


class LocalModel:
    """A tokenizer with a model that continues texts; one text at a time, from however many threads."""

    def __init__(self, settings: LocalSettings) -> None:
        self.settings = settings
        require_extra('engine = "local"')
        self._lock, self._loading = threading.Lock(), threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    @property
    def name(self) -> str:
        """The folder's own name, or the model's."""
        return Path(self.settings.model).name

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What the folder of a tuned model says of itself; empty for another."""
        from sensegraph.engines.llm.trained_prompt import MANIFEST  # and with it what calls an endpoint

        path = Path(self.settings.model) / MANIFEST
        return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}

    @cached_property
    def content(self) -> str:
        """A hash of all files of the folder, and of the base model's where it holds an adapter; else the name."""
        folder = Path(self.settings.model)
        if not folder.is_dir():
            return self.settings.model
        base = read_base_model(folder)
        return key(hash_files(folder), hash_files(Path(base)) if base and Path(base).is_dir() else base)

    @property
    def loaded(self) -> tuple[Any, Any]:
        """Tokenizer and model, in memory and on their device. Raises InputError where they cannot be read."""
        with self._loading:  # threads that ask first all at once must not load it twice
            self._loaded = self._loaded or self._read()
        return self._loaded

    def _read(self) -> tuple[Any, Any]:
        device = choose_device(self.settings.device)
        tokenizer, model = load_local_model(self.settings.model, quantisation=self.settings.quantisation, device=device)
        limit_threads(model)
        return tokenizer, model.eval()

    def prompt_of(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The text that a talk is for this model."""
        return render_talk(messages, self.loaded[0])

    def continued(self, prompt: str, most: int, temperature: float | None = 0.0, seed: int | None = None) -> Continued:
        """At most `most` tokens that follow `prompt`; the likeliest ones where `temperature` is 0 or None.

        Raises TooLong where prompt and `most` do not fit the context.
        """
        import torch

        tokenizer, model = self.loaded
        ids = tokenizer(prompt, return_tensors="pt").to(model.device)
        count, room = int(ids["input_ids"].shape[1]), self.context
        if room and count >= room:
            raise TooLong(f"A prompt has {count} tokens and the context of {self.name} {room}: give fewer passages.")
        how: dict[str, Any] = {"do_sample": bool(temperature)}
        how |= {"temperature": temperature, "top_k": 0} if temperature else {}
        pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id or 0
        with self._lock, torch.no_grad():
            if temperature and seed is not None:
                torch.manual_seed(seed)
            limit = min(most, room - count) if room else most
            accepted = {name: ids[name] for name in ("input_ids", "attention_mask") if name in ids}  # by every model
            made = model.generate(**accepted, max_new_tokens=limit, pad_token_id=int(pad), **how)
        new = made[0, count:].tolist()
        end = getattr(model.generation_config, "eos_token_id", None)
        ends = [*(end if isinstance(end, list) else [end]), tokenizer.eos_token_id]
        ended = bool(new) and new[-1] in ends
        text = tokenizer.decode(new, skip_special_tokens=True).strip()
        return Continued(text, count, len(new), "stop" if ended else "length")

    @property
    def context(self) -> int:
        """The most tokens of prompt and reply together; 0 where nobody says it."""
        return self.settings.context_tokens or int(getattr(self.loaded[1].config, "max_position_embeddings", 0) or 0)


# ── reading a folder ──


def load_local_model(
    model: str, *, quantisation: str = "none", device: str = "cpu", download: bool = False
) -> tuple[Any, Any]:
    """Tokenizer and model of a folder (with its adapter, if it is one) or of a name, on the device.

    Weights are as they are stored, but on a CPU 32 bits wide, which it computes in.

    A name is looked up in the cache of the library, and fetched only where `download` is set.
    Raises InputError for a folder that does not exist or holds no model, and a name that is not in the cache.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    hide_progress_bars()
    where = _find_model_folder(model)
    base = read_base_model(where) if where else ""
    dtype = torch_type(device) if device == "cpu" else "auto"
    how: dict[str, Any] = {"local_files_only": not download, "dtype": dtype}
    if quantisation == "4bit":
        how |= {"quantization_config": four_bit_quantisation(device), "device_map": {"": device}}
    try:
        tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=not download)
        found = AutoModelForCausalLM.from_pretrained(base or model, **how)
    except (OSError, ValueError) as e:
        if not Path(base or model).is_dir():
            raise InputError(
                f"{base or model} is no folder and not among the models that are cached here: give its folder, or "
                "--download to fetch it."
            ) from e
        why = " ".join(str(e).split())[:200]
        raise InputError(
            f"{model} holds no model that can be read ({why}): a folder needs config.json, weights and a tokenizer."
        ) from e
    places = int(found.get_input_embeddings().num_embeddings)
    if len(tokenizer) > places:
        raise InputError(
            f"{model}: its tokenizer knows {len(tokenizer)} tokens and the model {places}; they do not fit."
        )
    if base:
        from peft import PeftModel

        found = PeftModel.from_pretrained(found, model)
    return tokenizer, found if quantisation == "4bit" else found.to(device)


def read_base_model(folder: Path) -> str:
    """The base model that the adapter in `folder` belongs to; empty where it holds none."""
    path = folder / _ADAPTER
    return str(json.loads(path.read_text("utf-8"))["base_model_name_or_path"]) if path.is_file() else ""


def four_bit_quantisation(device: str) -> Any:
    """The quantisation of QLoRA: 4 bits, NormalFloat, the constants quantised too (Dettmers et al. 2023, §3)."""
    require_extra("4-bit quantisation", ("bitsandbytes",))
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch_type(device),
    )


def choose_device(wanted: str) -> str:
    """`cpu` or `cuda`: what is wanted, or a GPU where there is one. Raises SettingsError for a GPU that is not."""
    import torch

    there = torch.cuda.is_available()
    if wanted == "cuda" and not there:
        raise SettingsError('device = "cuda": no GPU is to be seen here; take device = "cpu" or "auto".')
    return "cuda" if there and wanted != "cpu" else "cpu"


def hide_progress_bars() -> None:
    """Let the library show no progress bars: whoever asked shows one."""
    from transformers.utils import logging

    logging.disable_progress_bar()


def limit_threads(model: Any) -> None:
    """Let a small model compute in one thread: its products take less time than threads take to meet."""
    import torch

    if sum(p.numel() for p in model.parameters()) < _SMALL:
        torch.set_num_threads(1)


def torch_type(device: str) -> Any:
    """The type to compute in: float32 on a CPU, else bfloat16 where the GPU has it, else float16 (the paper's T4)."""
    import torch

    if device == "cpu":
        return torch.float32
    return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16


def _find_model_folder(model: str) -> Path | None:
    """The folder that `model` names, if it names one. Raises InputError for a path that does not exist."""
    path = Path(model)
    if path.is_dir():
        return path
    if not model or path.is_absolute() or model.startswith((".", "~")) or model.count("/") != 1 or path.exists():
        raise InputError(f"{model or 'The model'} is no folder with a model: name one, or a name such as OWNER/MODEL.")
    return None
