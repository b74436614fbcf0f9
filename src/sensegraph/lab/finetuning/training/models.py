"""A base model made ready to be trained: which layers there are, which get an adapter, and what is frozen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sensegraph.engines.local.local_model import choose_device, limit_threads, load_local_model
from sensegraph.errors import SettingsError
from sensegraph.lab.finetuning.training.training_recipes import AUTO, Recipe

# the layers of attention under the names that families of models give them; the paper's come first
ATTENTION = (
    *("q_proj", "k_proj", "v_proj", "out_proj", "dense"),
    *("o_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "query", "key", "value"),
)
_OUTPUT = ("lm_head", "embed_out", "score")


def list_linear_layers(model: Any) -> tuple[str, ...]:
    """The last parts of the names of the model's linear layers, sorted, without the one that gives the words."""
    kinds = ("Linear", "Conv1D", "Linear4bit", "Linear8bitLt")
    names = (name.rpartition(".")[2] for name, module in model.named_modules() if type(module).__name__ in kinds)
    return tuple(sorted({n for n in names if n not in _OUTPUT}))


def choose_layers(targets: Sequence[str], there: Sequence[str]) -> tuple[str, ...]:
    """The layers that get an adapter, of those that are `there`.

    Every name must be there: a library would pass over one that is not as long as another is (the paper's `out_proj`
    is no layer of Phi). Raises SettingsError, listing what there is.
    """
    if tuple(targets) == (AUTO,):
        found = tuple(name for name in ATTENTION if name in there)
        if found:
            return found
        raise SettingsError(f'targets = "auto" knows none of the layers here; name some of {", ".join(there)}.')
    if missing := [name for name in targets if name not in there]:
        raise SettingsError(
            f"The model has no layer {', '.join(missing)}; it has {', '.join(there)}. Name some of these, or auto."
        )
    return tuple(targets)


def prepare_model(model: str, recipe: Recipe, download: bool = False) -> tuple[Any, Any, tuple[str, ...]]:
    """Tokenizer, model ready to train on its device, and the layers with an adapter (none where all weights train).

    Raises InputError for a model that cannot be read, SettingsError for layers that it does not have.
    """
    import torch

    device = choose_device(recipe.device)
    tokenizer, base = load_local_model(model, quantisation=recipe.quantisation, device=device, download=download)
    limit_threads(base)
    torch.manual_seed(recipe.seed)  # where the adapter begins
    if recipe.adapter == "full":
        return tokenizer, base.float().train(), ()
    targets = choose_layers(recipe.targets, list_linear_layers(base))
    from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training

    how = {"use_reentrant": False}  # what the library recommends, and what leaves inputs without gradients alone
    if recipe.quantisation == "4bit":
        base = prepare_model_for_kbit_training(
            base, use_gradient_checkpointing=recipe.recompute, gradient_checkpointing_kwargs=how
        )
    elif recipe.recompute:
        base.gradient_checkpointing_enable(gradient_checkpointing_kwargs=how)
        base.enable_input_require_grads()
    sizes = {"r": recipe.rank, "lora_alpha": recipe.alpha, "lora_dropout": recipe.dropout}
    adapted = get_peft_model(base, LoraConfig(**sizes, target_modules=list(targets), task_type="CAUSAL_LM"))
    adapted.config.use_cache = False
    return tokenizer, adapted.train(), targets


def list_trained_weights(model: Any) -> list[Any]:
    """The parameters that are trained, in the model's order."""
    return [p for p in model.parameters() if p.requires_grad]


def make_optimiser(model: Any, recipe: Recipe) -> Any:
    """The recipe's optimiser over what is trained (AdamW; paged and in 8 bits as QLoRA's, §3)."""
    weights, how = list_trained_weights(model), {"lr": recipe.learning_rate, "weight_decay": recipe.weight_decay}
    if recipe.optimiser == "paged_adamw_8bit":
        from bitsandbytes.optim import PagedAdamW8bit

        return PagedAdamW8bit(weights, **how)
    from torch.optim import AdamW

    return AdamW(weights, **how)
