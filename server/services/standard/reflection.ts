/**
 * Server reflection, versions v1 and v1alpha, which have the same messages. It needs no key: the contract is public, it is
 * part of the published package.
 */
import { Code, type ServiceImpl } from "@connectrpc/connect";
import type {
  ServerReflection,
  ServerReflectionRequest,
} from "../../../proto/grpc/reflection/v1/reflection_pb.ts";
import type {
  ServerReflection as ServerReflectionAlpha,
  ServerReflectionRequest as ServerReflectionRequestAlpha,
} from "../../../proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { type Descriptors, serialize } from "./descriptors.ts";

type Question = (ServerReflectionRequest | ServerReflectionRequestAlpha)["messageRequest"];

export function reflection(descriptors: Descriptors): ServiceImpl<typeof ServerReflection> {
  return { serverReflectionInfo: (requests) => answers(descriptors, requests) };
}

export function reflectionAlpha(descriptors: Descriptors): ServiceImpl<typeof ServerReflectionAlpha> {
  return { serverReflectionInfo: (requests) => answers(descriptors, requests) };
}

/** A stream sends each file once. */
async function* answers<Request extends ServerReflectionRequest | ServerReflectionRequestAlpha>(
  descriptors: Descriptors,
  requests: AsyncIterable<Request>,
) {
  const sent = new Set<string>();
  for await (const request of requests) {
    const messageResponse = answer(descriptors, request.messageRequest, sent);
    yield { validHost: request.host, originalRequest: request, messageResponse };
  }
}

function answer(descriptors: Descriptors, question: Question, sent: Set<string>) {
  switch (question.case) {
    case "listServices": {
      const service = descriptors.services.map((name) => ({ name }));
      return { case: "listServicesResponse", value: { service } } as const;
    }
    case "fileByFilename":
      return files(descriptors.file(question.value), `file '${question.value}'`);
    case "fileContainingSymbol":
      return files(descriptors.symbol(question.value), `symbol '${question.value}'`);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      const file = descriptors.extension(containingType, extensionNumber);
      return files(file, `extension ${extensionNumber} of '${containingType}'`);
    }
    case "allExtensionNumbersOfType": {
      const extensionNumber = descriptors.extensionNumbers(question.value);
      if (extensionNumber === undefined)
        return failed(Code.NotFound, `There is no message '${question.value}'.`);
      const value = { baseTypeName: question.value, extensionNumber };
      return { case: "allExtensionNumbersResponse", value } as const;
    }
    default:
      return failed(Code.InvalidArgument, "The request asks for nothing: set one of its fields.");
  }

  function files(file: Parameters<typeof serialize>[0] | undefined, what: string) {
    if (file === undefined) return failed(Code.NotFound, `There is no ${what}.`);
    return { case: "fileDescriptorResponse", value: { fileDescriptorProto: serialize(file, sent) } } as const;
  }
}

function failed(errorCode: Code, errorMessage: string) {
  return { case: "errorResponse", value: { errorCode, errorMessage: errorMessage.slice(0, 300) } } as const;
}
