"""Calls the service with grpcio: client.py ADDRESS KEY. Messages are encoded by hand, without generated code."""

import sys

import grpc

address, key = sys.argv[1:]
authorization = (("authorization", "Bearer " + key),)


def text(number: int, value: str) -> bytes:
    data = value.encode()
    return bytes([number << 3 | 2, len(data)]) + data


def code_of(call) -> str:
    try:
        call()
        return "OK"
    except grpc.RpcError as error:
        return error.code().name


with grpc.insecure_channel(address) as channel:
    health = channel.unary_unary("/grpc.health.v1.Health/Check")
    print("health", list(health(b"")))
    check = channel.unary_unary("/svc.v1.HealthService/Check")
    print("check", b"ok" in check(b"", metadata=authorization))
    print("no key", code_of(lambda: check(b"")))
    get = channel.unary_unary("/svc.v1.ExecutionService/GetExecution")
    print("not found", code_of(lambda: get(text(1, "exe_1"), metadata=authorization)))
    print("unknown method", code_of(lambda: channel.unary_unary("/svc.v1.Nothing/Call")(b"")))
    watch = channel.unary_stream("/grpc.health.v1.Health/Watch")
    print("deadline", code_of(lambda: list(watch(b"", timeout=0.5))))
    stream = watch(b"")
    print("watch", list(next(stream)))
    stream.cancel()
    print("large", code_of(lambda: get(text(1, "x") + b"\x12" + b"\x80\x80\x80\x02" + b"x" * 4194304, metadata=authorization)))
