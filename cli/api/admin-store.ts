import type { Admin } from "../../server/admin.ts";
import { CliError } from "../app/errors.ts";
import { cleanLine } from "../terminal/format.ts";

/** `--data`, on commands that work beside the store. */
export const dataFolder = {
  data: {
    type: "string",
    valueHint: "folder",
    description: "The server's data folder; SVC_DATA_DIR, else .svc",
  },
} as const;

/** Opens the store of a server, which may be running or not, and does something in it. */
export async function withStore<Result>(
  data: string | undefined,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  const { openAdmin } = await import("../../server/admin.ts");
  try {
    const admin = openAdmin(data ?? (process.env.SVC_DATA_DIR || ".svc"));
    try {
      return await work(admin);
    } finally {
      await admin.close();
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CliError(
      cleanLine(message),
      "`svc admin` works on the data folder of `svc serve`: see --data.",
      {
        cause: error,
      },
    );
  }
}
