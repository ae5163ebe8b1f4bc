"""The codes of what is wrong with a service. `assay.judge.refusals.endpoint_text` makes the sentences."""

from __future__ import annotations

import enum


class EndpointCode(enum.StrEnum):
    """The facts that come with each are the names in its sentence."""

    KEY_CHARACTER = "key_character"
    NO_SERVICE_ADDRESS = "no_service_address"
    NOTHING_ANSWERS = "nothing_answers"
    NO_TLS = "no_tls"
    CERTIFICATE = "certificate"
    NO_HOST_NAME = "no_host_name"
    HOST_HAS_NO_ADDRESS = "host_has_no_address"
    LOOKED_UP_LATE = "looked_up_late"
    DEADLINE_OVER = "deadline_over"
    BUSY = "busy"
    ANSWER_LATE = "answer_late"
    WENT_AWAY = "went_away"
    KEY_REFUSED = "key_refused"
    REQUEST_REFUSED = "request_refused"
    REQUEST_FAILED = "request_failed"
    STREAM_CUT = "stream_cut"
    ANSWER_TOO_LARGE = "answer_too_large"
    ANSWER_NO_JSON = "answer_no_json"
    ANSWER_UNREADABLE = "answer_unreadable"
    OUTPUTS_OF_ONE_NAME = "outputs_of_one_name"
    OUTPUT_TYPE = "output_type"
    OUTPUT_MISFIT = "output_misfit"
    NO_JSON_OF = "no_json_of"
    WHICH_MODEL = "which_model"
    MODEL_NOT_SERVED = "model_not_served"
    TEMPLATE_NOT_READ = "template_not_read"
    TEMPLATE_BROKEN = "template_broken"
    TOKENS_NOT_READ = "tokens_not_read"
