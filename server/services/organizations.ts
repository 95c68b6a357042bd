/** OrganizationService: the organization of the key. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { OrganizationSchema, type OrganizationService } from "../../proto/svc/v1/organization_pb.ts";
import { callerOf } from "../auth.ts";
import { notFound } from "../errors.ts";
import { getOrganization } from "../store/organizations.ts";
import type { App } from "./app.ts";

export function organizationService(app: App): ServiceImpl<typeof OrganizationService> {
  return {
    async getOrganization(_request, context) {
      const { orgId } = callerOf(context);
      const row = await app.engine.read(() => getOrganization(orgId));
      if (row === undefined) throw notFound("The organization of this key is gone.");
      return create(OrganizationSchema, {
        orgId: row.org_id,
        name: row.name,
        createdAt: timestampFromMs(row.created_at),
      });
    },
  };
}
