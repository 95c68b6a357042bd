import type { Admin } from "../../server/admin.ts";
import { CliError } from "../app/errors.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";

/** Opens the store in a data folder, whether or not a server uses it, and runs `work` with it. */
export async function withStore<Result>(
  dataFolder: string | undefined,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  const { openAdmin } = await import("../../server/admin.ts");
  try {
    const admin = openAdmin(dataFolder ?? (process.env.SVC_DATA_DIR || ".svc"));
    try {
      return await work(admin);
    } finally {
      await admin.close();
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CliError(
      sanitizeLine(message),
      "`svc admin` needs the data folder of `svc serve`; pass it with --data.",
      { cause: error },
    );
  }
}
