"""The sentences of what is wrong with a service."""

from __future__ import annotations

from assay.core.refusals.endpoint_codes import EndpointCode

_OTHER_HOST = ("is for another host", "ask for the service by the name that it is made out to")
UNTRUSTED = ("is not trusted", "name the file of its authority in SSL_CERT_FILE")
CERTIFICATES = {
    9: ("is not valid yet", "set the clock of this machine, or have another made"),
    10: ("has expired", "have it renewed"),
    23: ("was revoked", "have another made"),
    62: _OTHER_HOST,
    64: _OTHER_HOST,
}
"""What is wrong with a certificate, and what to do, by OpenSSL's code (X509_V_ERR_*)."""

ENDPOINTS: dict[str, str] = {
    EndpointCode.KEY_CHARACTER: (
        "character {character} of ASSAY_ENDPOINT_KEY cannot be sent in an HTTP header: put the key alone into it"
    ),
    EndpointCode.NO_SERVICE_ADDRESS: "{address!r} is no address of a service; give one such as http://127.0.0.1:8000/v1",
    EndpointCode.NOTHING_ANSWERS: "nothing answers at {address} ({error}): start the service, or correct its address",
    EndpointCode.NO_TLS: "{address} does not speak TLS ({error}): is it an address of http://?",
    EndpointCode.CERTIFICATE: "{address}: its certificate {what} ({error}): {then}",
    EndpointCode.NO_HOST_NAME: "{host!r} is no name of a host",
    EndpointCode.HOST_HAS_NO_ADDRESS: "{host} has no address",
    EndpointCode.LOOKED_UP_LATE: "the name {host} is looked up for longer than {seconds:.3g} s",
    EndpointCode.DEADLINE_OVER: "the deadline is over",
    EndpointCode.BUSY: "{address} was busy {times} (status {status}: {reason}): ask it again when it has room",
    EndpointCode.ANSWER_LATE: "{address} did not answer in {seconds:g} s: it hangs, or give it more with --option timeout_s=SECONDS",
    EndpointCode.WENT_AWAY: "{address} went away after {answers} answers ({error}): read the log of the service",
    EndpointCode.KEY_REFUSED: "{address} does not let us in (status {status}: {reason}): put its key into ASSAY_ENDPOINT_KEY",
    EndpointCode.REQUEST_REFUSED: "{address} refuses the request (status {status}): {reason}",
    EndpointCode.REQUEST_FAILED: "{address} failed (status {status}): {reason}",
    EndpointCode.STREAM_CUT: "{address}: the stream ended after {events} events, without its end: it was cut off",
    EndpointCode.ANSWER_TOO_LARGE: "{address} answered more than {most:,} bytes: does it come to an end?",
    EndpointCode.ANSWER_NO_JSON: "{address} answered {answer}, which is not JSON: is it a service of this kind?",
    EndpointCode.ANSWER_UNREADABLE: "{address} gave an answer that cannot be read ({error}): is it {protocol} that it speaks?",
    EndpointCode.OUTPUTS_OF_ONE_NAME: "two outputs have one name",
    EndpointCode.OUTPUT_TYPE: "JSON carries no such type as {type} - at `$.outputs[{number}].datatype`",
    EndpointCode.OUTPUT_MISFIT: "does not fit its type {type} and its shape - at `$.outputs[{number}].data`",
    EndpointCode.NO_JSON_OF: "input '{input}' is {dtype}: the protocol carries {known} as JSON",
    EndpointCode.WHICH_MODEL: "{address}: which of its models? choose with --option model=NAME",
    EndpointCode.MODEL_NOT_SERVED: "{address} serves no model {model!r}; it serves {models}: choose with --option model=NAME",
    EndpointCode.TEMPLATE_NOT_READ: "the chat template {file} cannot be read ({error}); give the template of the model",
    EndpointCode.TEMPLATE_BROKEN: (
        "the chat template {file} takes no chat with a system message, or is broken: {error}; give the template of the "
        "model, or leave it out"
    ),
    EndpointCode.TOKENS_NOT_READ: "{file} cannot be read ({error}); give the file of the model",
}
