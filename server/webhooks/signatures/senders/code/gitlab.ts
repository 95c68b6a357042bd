/**
 * GitLab: `x-gitlab-token` carries the secret token. `idempotency-key` is the same in all retries (GitLab 17.4).
 * https://docs.gitlab.com/user/project/integrations/webhooks/#validate-payloads-by-using-a-secret-token
 */

import { verify as verifyToken } from "../../general/token.ts";
import { header, idOf } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";

export const gitlab: Scheme = {
  signsDeliveryId: false,
  verify: (request) =>
    verifyToken({ ...request, definition: { ...request.definition, header: "x-gitlab-token" } }),
  deliveryId: (headers) => idOf(header(headers, "idempotency-key")),
};
