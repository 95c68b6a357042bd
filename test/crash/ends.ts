/** Database triggers that count how often an execution ends, and record executions that run again after their end. */
import { all, type Program, run } from "../../server/store/engine.ts";
import type { TestServer } from "../support/server.ts";

const ended = "IN ('succeeded', 'failed', 'cancelled')";
const tables = ["CREATE TABLE test_ends (id TEXT, status TEXT)", "CREATE TABLE test_revivals (id TEXT)"];
const triggers: Record<"sqlite" | "postgres", readonly string[]> = {
  sqlite: [
    `CREATE TRIGGER test_end AFTER UPDATE OF status ON executions WHEN NEW.status ${ended}
BEGIN INSERT INTO test_ends VALUES (NEW.execution_id, NEW.status); END`,
    `CREATE TRIGGER test_revival AFTER UPDATE OF status ON executions WHEN OLD.status ${ended}
BEGIN INSERT INTO test_revivals VALUES (NEW.execution_id); END`,
  ],
  postgres: [
    `CREATE FUNCTION test_end() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.status ${ended} THEN INSERT INTO test_ends VALUES (NEW.execution_id, NEW.status); END IF;
  IF OLD.status ${ended} THEN INSERT INTO test_revivals VALUES (NEW.execution_id); END IF;
  RETURN NULL;
END $$`,
    "CREATE TRIGGER test_end AFTER UPDATE OF status ON executions FOR EACH ROW EXECUTE FUNCTION test_end()",
  ],
};

export async function countEnds(server: TestServer): Promise<void> {
  const engine = await server.openStore();
  await engine.write(() => createCounters(server.engine));
  await engine.close();
}

export function* createCounters(engine: keyof typeof triggers): Program<void> {
  for (const statement of [...tables, ...triggers[engine]]) yield* run(statement);
}

export interface Violations {
  doubles: unknown[];
  revivals: unknown[];
}

/** Executions that ended more than once, or ran again after their end. */
export function violations(server: TestServer): Promise<Violations> {
  return query(server, listViolations);
}

export function* listViolations(): Program<Violations> {
  return {
    doubles: yield* all("SELECT id, count(*) AS n FROM test_ends GROUP BY id HAVING count(*) <> 1"),
    revivals: yield* all("SELECT id FROM test_revivals"),
  };
}

/** Runs a program on the store of a server. */
export async function query<Result>(server: TestServer, program: () => Program<Result>): Promise<Result> {
  const engine = await server.openStore();
  try {
    return await engine.read(program);
  } finally {
    await engine.close();
  }
}
