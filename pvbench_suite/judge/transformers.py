"""A judge in this process, by the transformers library: the Qwen3-VL, Qwen3.5 and InternVL families.

The model's own processor builds its input; frames go in as pictures with their times in words, so no frame rate is
assumed for them.  Decoding is greedy.  The path is proven with tiny random models built from a configuration; it is
not verified against real weights.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import cv2
import numpy as np

from pvbench_suite.errors import UserError
from pvbench_suite.judge.backend import Answer, Refused, Unavailable
from pvbench_suite.judge.request import Request
from pvbench_suite.judge.sampling import Picture
from pvbench_suite.judge.settings import TOP_TOKENS, Settings, redacted
from pvbench_suite.judge.verdict import Token


class TransformersBackend:
    """Loads the model at its first question and answers one question at a time.

    Parameters
    ----------
    settings : Settings
        `model` is a name on the hub or a folder, with ``@revision`` for one of its revisions.
    gate : callable
        Called before every question; raises `CapReached`.
    load : callable, optional
        Gives (model, processor) in place of the library's own loading.

    Raises
    ------
    UserError
        If torch or transformers is not installed.
    """

    def __init__(
        self, settings: Settings, gate: Callable[[], None], load: Callable[[], tuple[Any, Any]] | None = None
    ) -> None:
        _libraries()
        self._settings, self._gate, self._load = settings, gate, load or self._pretrained
        self._loaded: tuple[Any, Any] | None = None
        # One thread: a model answers one question at a time anyway, and the loop stays free.
        self._hands = ThreadPoolExecutor(1, thread_name_prefix="pvbench-transformers")
        self._stop = threading.Event()

    async def revision(self) -> str:
        """Return the commit of the weights that were loaded, where the library knows it."""
        model, _ = await self._in_thread(self._ready)
        commit = getattr(model.config, "_commit_hash", None)
        return commit[:12] if isinstance(commit, str) and "@" not in self._settings.model else ""

    async def ask(self, request: Request) -> Answer:
        """Return the answer to `request`; see `Backend.ask`."""
        self._gate()
        answer: Answer = await self._in_thread(self._generate, request)
        return answer

    async def _in_thread(self, work: Callable[..., Any], *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._hands, work, *given)

    def _ready(self) -> tuple[Any, Any]:
        if self._loaded is None:
            try:
                self._loaded = self._load()
            except (OSError, ValueError, ImportError, KeyError) as error:
                what = f"the model {self._settings.model!r} cannot be loaded: {redacted(str(error))}"
                raise Unavailable(what, "give --pv-judge-model a name or folder that is there", lasting=True) from None
        return self._loaded

    def _pretrained(self) -> tuple[Any, Any]:
        torch, library = _libraries()
        name, _, revision = self._settings.model.partition("@")
        place: dict[str, Any] = {"revision": revision or None, "trust_remote_code": False}
        processor = library.AutoProcessor.from_pretrained(name, **place)
        model = library.AutoModelForImageTextToText.from_pretrained(name, dtype="auto", use_safetensors=True, **place)
        return model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), processor

    def _generate(self, request: Request) -> Answer:
        torch, library = _libraries()
        model, processor = self._ready()
        try:
            inputs = processor.apply_chat_template(
                chat(request),
                tokenize=True,
                add_generation_prompt=True,
                return_dict=True,
                return_tensors="pt",
                enable_thinking=False,
            ).to(model.device)
        except (ValueError, TypeError) as error:
            raise Refused(f"the processor cannot build the input: {redacted(str(error))}") from None
        length = int(inputs["input_ids"].shape[1])
        watch = _Watch(torch)
        halt = _halting(library, self._stop)
        with torch.inference_mode():
            out = model.generate(
                **inputs,
                max_new_tokens=self._settings.max_tokens,
                do_sample=False,
                logits_processor=library.LogitsProcessorList([watch]),
                stopping_criteria=library.StoppingCriteriaList([halt]),
            )
        tokenizer = getattr(processor, "tokenizer", processor)
        new = [int(k) for k in out[0][length:]]
        ends = _ends(model, tokenizer)
        finished = bool(new) and new[-1] in ends
        kept = [k for k in new if k not in ends]
        return Answer(
            text=tokenizer.decode(kept, skip_special_tokens=True),
            finish="stop" if finished else "length",
            tokens_in=length,
            tokens_out=len(new),
            tokens=watch.tokens(tokenizer, kept),
            served=self._settings.model,
        )

    async def close(self) -> None:
        """Stop answering and forget the model."""
        self._stop.set()
        self._hands.shutdown(wait=True, cancel_futures=True)
        self._loaded = None


def chat(request: Request) -> list[dict[str, Any]]:
    """Return the request as the messages of a chat template, pictures as PIL images."""
    from PIL import Image

    def part(given: str | Picture) -> dict[str, Any]:
        if isinstance(given, str):
            return {"type": "text", "text": given}
        pixels = cv2.imdecode(np.frombuffer(given.data, dtype=np.uint8), cv2.IMREAD_COLOR)
        if pixels is None:
            raise Refused("a picture of the request cannot be read back")
        return {"type": "image", "image": Image.fromarray(np.ascontiguousarray(pixels[..., ::-1]))}

    return [
        {"role": "system", "content": [{"type": "text", "text": request.system}]},
        {"role": "user", "content": [part(p) for p in request.parts]},
    ]


class _Watch:
    """Keeps the most probable tokens of each step; changes nothing."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._steps: list[tuple[list[int], list[float]]] = []

    def __call__(self, ids: Any, scores: Any) -> Any:
        best = self._torch.log_softmax(scores[0].float(), dim=-1).topk(min(TOP_TOKENS, scores.shape[-1]))
        self._steps.append((best.indices.tolist(), best.values.tolist()))
        return scores

    def tokens(self, tokenizer: Any, kept: list[int]) -> tuple[Token, ...]:
        """Return the generated tokens with their alternatives."""
        out = []
        for chosen, (ids, values) in zip(kept, self._steps, strict=False):
            top = tuple((tokenizer.decode([k]), float(v)) for k, v in zip(ids, values, strict=True))
            out.append(Token(tokenizer.decode([chosen]), top))
        return tuple(out)


def _halting(library: Any, stop: threading.Event) -> Any:
    """Return a stopping criterion that ends a generation when the run is over."""
    torch, _ = _libraries()

    class Halt(library.StoppingCriteria):  # type: ignore[misc]
        def __call__(self, ids: Any, scores: Any, **_: Any) -> Any:
            return torch.full((ids.shape[0],), stop.is_set(), dtype=torch.bool, device=ids.device)

    return Halt()


def _ends(model: Any, tokenizer: Any) -> set[int]:
    """Return the ids of the tokens that end an answer."""
    found: set[int] = set()
    for ends in (getattr(model.generation_config, "eos_token_id", None), getattr(tokenizer, "eos_token_id", None)):
        found |= {int(k) for k in (ends if isinstance(ends, (list, tuple)) else [ends]) if k is not None}
    return found


def _libraries() -> tuple[Any, Any]:
    """Return torch and transformers.

    Raises
    ------
    UserError
        If one is not installed.
    """
    try:
        # By name, since neither is there where the suite is checked.
        return import_module("torch"), import_module("transformers")
    except ImportError:
        raise UserError(
            "a judge in this process needs torch and transformers: pip install 'pvbench-suite[perception]'"
        ) from None
