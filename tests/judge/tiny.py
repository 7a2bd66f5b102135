"""Tiny random vision-language models of the families that the in-process judge takes, built from a configuration."""

from __future__ import annotations

from typing import Any

import pytest

FAMILIES = ("qwen3_vl", "qwen3_5", "internvl")

_QWEN = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>",
    "<|video_pad|>", "<img>", "</img>", "<IMG_CONTEXT>", "<video>",
)  # fmt: skip
_TEMPLATE = (
    "{%- for message in messages %}<|im_start|>{{ message.role }}\n{%- for part in message.content %}"
    "{%- if part.type == 'image' %}IMAGE{%- else %}{{ part.text }}{%- endif %}"
    "{%- endfor %}<|im_end|>\n{%- endfor %}<|im_start|>assistant\n"
    "{%- if enable_thinking is not defined or enable_thinking %}<think>{%- endif %}"
)
_TEXT = {
    "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16,
    "max_position_embeddings": 8192,
}  # fmt: skip
_VISION = {
    "depth": 2, "hidden_size": 16, "intermediate_size": 24, "num_heads": 2, "out_hidden_size": 32,
    "num_position_embeddings": 64, "patch_size": 16,
}  # fmt: skip


def _tokenizer() -> Any:
    """Return a byte-level tokenizer that was trained on a few words."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    plain = tokenizers.Tokenizer(tokenizers.models.BPE())
    plain.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=600, special_tokens=list(_QWEN), initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()
    )
    plain.train_from_iterator(["score the video by the rubric", "frame 3 at 1.50 s"], trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="<|endoftext|>",
        additional_special_tokens=_QWEN[3:],
        extra_special_tokens={
            "start_image_token": "<img>", "end_image_token": "</img>", "context_image_token": "<IMG_CONTEXT>",
            "video_token": "<video>",
        },
    )  # fmt: skip


def build(family: str) -> tuple[Any, Any]:
    """Return a random model of a few thousand weights and its processor, or skip the test."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torchvision")
    words = _tokenizer()
    torch.manual_seed(0)
    model, processor = {"internvl": _internvl}.get(family, _qwen)(transformers, words, family)
    model.generation_config.pad_token_id = words.pad_token_id
    model.generation_config.eos_token_id = None
    return model.eval(), processor


def _qwen(transformers: Any, words: Any, family: str) -> tuple[Any, Any]:
    ids = {name: words.convert_tokens_to_ids(name) for name in _QWEN}
    pixels = {"patch_size": 16, "merge_size": 2, "size": {"shortest_edge": 32 * 32, "longest_edge": 64 * 64}}
    processor = transformers.Qwen3VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessor(**pixels),
        tokenizer=words,
        video_processor=transformers.Qwen3VLVideoProcessor(),
        chat_template=_TEMPLATE.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>"),
    )
    text: dict[str, Any] = {**_TEXT, "vocab_size": len(words), "num_hidden_layers": 2}
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [4, 2, 2]}
    vision = dict(_VISION)
    if family == "qwen3_5":
        text |= {
            "layer_types": ["linear_attention", "full_attention"], "linear_key_head_dim": 8, "linear_value_head_dim": 8,
            "linear_num_key_heads": 2, "linear_num_value_heads": 2,
        }  # fmt: skip
        rope |= {"partial_rotary_factor": 1.0, "mrope_interleaved": True}
        config_class, model_class = transformers.Qwen3_5Config, transformers.Qwen3_5ForConditionalGeneration
    else:
        vision |= {"deepstack_visual_indexes": [0]}
        config_class, model_class = transformers.Qwen3VLConfig, transformers.Qwen3VLForConditionalGeneration
    config = config_class(
        text_config={**text, "rope_parameters": rope},
        vision_config=vision,
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )
    return model_class(config), processor


def _internvl(transformers: Any, words: Any, family: str) -> tuple[Any, Any]:
    processor = transformers.InternVLProcessor(
        image_processor=transformers.GotOcr2ImageProcessor(size={"height": 56, "width": 56}, crop_to_patches=False),
        tokenizer=words,
        video_processor=transformers.InternVLVideoProcessor(),
        image_seq_length=4,
        chat_template=_TEMPLATE.replace("IMAGE", "<IMG_CONTEXT>\n"),
    )
    config = transformers.InternVLConfig(
        text_config={**_TEXT, "model_type": "qwen3", "vocab_size": len(words), "num_hidden_layers": 2},
        vision_config={
            "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2,
            "image_size": [56, 56], "patch_size": [14, 14],
        },
        image_token_id=words.convert_tokens_to_ids("<IMG_CONTEXT>"),
    )  # fmt: skip
    return transformers.InternVLForConditionalGeneration(config), processor
