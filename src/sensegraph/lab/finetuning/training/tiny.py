"""Tiny models of random weights, with a tokenizer of whole words: for trying everything out on a CPU in minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sensegraph.engines.local.local_model import hide_progress_bars, require_extra

_SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")


@dataclass(frozen=True, slots=True)
class Sizes:
    """The configuration of a tiny model. `theta` is the base of the rotary positions: a small one tells near places
    apart at once, `spread` the deviation of the random weights."""

    family: Literal["llama", "phi"] = "llama"
    width: int = 64
    layers: int = 2
    heads: int = 4
    positions: int = 512
    theta: float = 6.0
    spread: float = 0.1
    seed: int = 0


def write_tiny_model(folder: Path, words: Sequence[str], sizes: Sizes | None = None) -> Path:
    """Write a model of random weights that knows these words, parted by blanks and punctuation; returns the folder."""
    require_extra("A tiny model")
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    hide_progress_bars()
    sizes = sizes or Sizes()
    names = dict.fromkeys((*_SPECIAL, *words))
    made = Tokenizer(models.WordLevel({name: n for n, name in enumerate(names)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.decoder = decoders.WordPiece(prefix="##")
    marks = dict(zip(("pad_token", "bos_token", "eos_token", "unk_token"), _SPECIAL, strict=True))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=1 << 16, **marks)
    common = {
        "vocab_size": len(tokenizer),
        "hidden_size": sizes.width,
        "intermediate_size": 2 * sizes.width,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "max_position_embeddings": sizes.positions,
        "initializer_range": sizes.spread,
        "tie_word_embeddings": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": sizes.theta, "partial_rotary_factor": 1.0},
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    torch.manual_seed(sizes.seed)
    model: Any
    if sizes.family == "llama":
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**common))
    else:
        free = {"resid_pdrop": 0.0, "embd_pdrop": 0.0}
        model = transformers.PhiForCausalLM(transformers.PhiConfig(**common, **free))
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
