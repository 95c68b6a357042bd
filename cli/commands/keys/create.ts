import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { expiry, json, newKey, verbose } from "../../app/options.ts";
import { printJson } from "../../terminal/output.ts";
import { printNewKey } from "../../views/new-key.ts";

const create: Command = command({
  about:
    "Prints the key on standard output, once: it is stored nowhere. Two keys may be valid at a time, so that one can\ntake the other's place before that is revoked.",
  args: {
    ...newKey,
    ...json,
    ...verbose,
  },
  examples: [["svc keys create --name ci --scope deploy --expires 90d", "A key for a pipeline"]],
  async run(values) {
    const expires = values.expires === undefined ? undefined : expiry(values.expires);
    const organization = await openConnection(values).client("organization");
    const { timestampFromDate } = await import("@bufbuild/protobuf/wkt");
    const answer = await organization.createApiKey({
      name: values.name,
      scope: values.scope,
      ...(expires !== undefined && { expiresAt: timestampFromDate(expires) }),
    });
    if (values.json) {
      const { CreateApiKeyResponseSchema } = await import("../../../proto/svc/v1/organization_pb.ts");
      return printJson(CreateApiKeyResponseSchema, answer);
    }
    printNewKey({
      keyId: answer.key?.keyId ?? "",
      name: values.name,
      scope: values.scope,
      expiresAtMs: expires?.getTime() ?? null,
      token: answer.token,
    });
  },
});

export default create;
