/** Checks requests by the rules of the contract, the same for RPC and REST. Rules of responses only describe them. */
import type { DescMessage, DescService, Message } from "@bufbuild/protobuf";
import type { ConnectError, Interceptor } from "@connectrpc/connect";
import { badRequest, type FieldViolation } from "../../errors/details.ts";
import { fail } from "../../errors.ts";
import { type Check, compile } from "./compile.ts";

/** @throws Error when the contract has a rule that is not supported */
export function validateRequests(services: readonly DescService[]): Interceptor {
  const checks = new Map<DescMessage, Check>();
  for (const { input } of services.flatMap((service) => service.methods)) checks.set(input, compile(input));
  return (next) => (request) => {
    const check = checks.get(request.method.input);
    if (check === undefined) return next(request);
    if (!request.stream) {
      validate(check, request.message);
      return next(request);
    }
    const { message } = request;
    return next({ ...request, message: validateEach(check, message) });
  };
}

async function* validateEach(check: Check, messages: AsyncIterable<Message>): AsyncGenerator<Message> {
  for await (const message of messages) {
    validate(check, message);
    yield message;
  }
}

/** @throws ConnectError `invalid_argument` with all violations */
function validate(check: Check, message: Message): void {
  const violations = check(message as Parameters<Check>[0]);
  if (violations.length > 0) throw invalidRequest(violations);
}

function invalidRequest(violations: readonly FieldViolation[]): ConnectError {
  const [first] = violations;
  const lines = violations.map(({ description }) => description);
  const title = `Cannot use the request: ${violations.length} fields are invalid.`;
  return fail("INVALID_FIELD", lines.length === 1 ? (lines[0] ?? title) : [title, ...lines].join("\n"), {
    metadata: violations.length === 1 && first !== undefined ? { field: first.field } : {},
    details: [badRequest(violations)],
  });
}
