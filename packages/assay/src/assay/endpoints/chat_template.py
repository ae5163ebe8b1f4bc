"""Chat templates, rendered as Hugging Face's transformers does. https://huggingface.co/docs/transformers/chat_templating"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.note import noted
from assay.core.refusals.endpoint_codes import EndpointCode
from assay.endpoints.readable import json_value
from assay.errors import UsageError


def rendered(path: Path, messages: Sequence[Mapping[str, str]], tokenizer: Path) -> str:
    """The text of these messages, the answer opened. Special tokens are those of tokenizer_config.json beside the tokenizer, where there
    is one. Raises UsageError."""
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {"raise_exception": _refuse, "strftime_now": _now}
    variables: dict[str, Any] = {"messages": messages, "tools": None, "documents": None, "add_generation_prompt": True}
    try:
        template = environment.from_string(path.read_text("utf-8"))
        return template.render(_special_tokens(tokenizer.parent / "tokenizer_config.json") | variables)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(noted(EndpointCode.TEMPLATE_NOT_READ, file=str(path), error=str(error))) from None
    except (TemplateError, TypeError, ValueError) as error:
        text = " ".join(str(error).split())
        raise UsageError(noted(EndpointCode.TEMPLATE_BROKEN, file=str(path), error=text)) from None


def _refuse(message: str) -> None:
    from jinja2 import TemplateError

    raise TemplateError(message)


def _now(form: str) -> str:
    return datetime.datetime.now().astimezone().strftime(form)


def _to_json(value: Any, indent: int | None = None) -> str:
    """Jinja's own escapes what HTML does not allow."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _special_tokens(path: Path) -> dict[str, str]:
    """bos_token, eos_token and the others, by name; none where there is no such file."""
    if not path.is_file():
        return {}
    try:
        document = json_value(path.read_bytes())
        items = dict(document).items()
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(noted(EndpointCode.TOKENS_NOT_READ, file=str(path), error=str(error))) from None
    tokens = {name: item.get("content") if isinstance(item, dict) else item for name, item in items}
    return {name: token for name, token in tokens.items() if name.endswith("_token") and isinstance(token, str)}
