/** API keys: create, see the last use, revoke. */
import { useState } from "preact/hooks";
import type { ApiKey } from "../../proto/svc/v1/organization_pb.ts";
import { Card, Copy, Empty, Failure, Heading, Loading, Status, Time } from "../components/basics.tsx";
import { ConfirmButton } from "../components/confirm.tsx";
import { type Column, Table } from "../components/table.tsx";
import { api } from "../lib/api.ts";
import { dateOf } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { act } from "../lib/notices.ts";
import { allows } from "../lib/session.ts";

export function KeysPage() {
  if (!allows("full")) {
    return (
      <>
        <Heading title="Keys" />
        <Empty title="Your API key may not manage keys: it needs the scope full." />
      </>
    );
  }
  return <Keys />;
}

function Keys() {
  const { data, error, loading, reload } = useLoad(
    (signal) => api.organization.listApiKeys({}, { signal }),
    "keys",
  );
  const columns: readonly Column<ApiKey>[] = [
    {
      title: "Name",
      cell: ({ name, current }) => (
        <>
          {name} {current ? <span class="dim">(this session)</span> : null}
        </>
      ),
    },
    { title: "Status", cell: (key) => <Status value={stateOf(key)} /> },
    { title: "Scope", cell: ({ scope }) => scope },
    { title: "Created", cell: ({ createdAt }) => <Time value={createdAt} />, wide: true },
    { title: "Last used", cell: ({ lastUsedAt }) => <Time value={lastUsedAt} /> },
    { title: "Expires", cell: ({ expiresAt }) => <Time value={expiresAt} />, wide: true },
    {
      title: "Revoke",
      cell: (key) =>
        stateOf(key) !== "active" ? null : (
          <ConfirmButton
            label="Revoke"
            kind="danger"
            question={`Revoke the key ${key.name}?`}
            detail={
              key.current
                ? "You signed in with this key: the console signs out."
                : "Requests with it are refused at once."
            }
            onConfirm={() =>
              act(`Revoked ${key.name}.`, async () => {
                await api.organization.revokeApiKey({ keyId: key.keyId });
                await reload();
              })
            }
          />
        ),
    },
  ];
  return (
    <>
      <Heading title="Keys" />
      {error !== undefined ? <Failure error={error} onRetry={reload} /> : null}
      {loading ? <Loading /> : null}
      {data === undefined ? null : (
        <Table label="API keys" columns={columns} rows={data.keys} keyOf={({ keyId }) => keyId} />
      )}
      <CreateKey onCreated={reload} />
    </>
  );
}

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== undefined) return "revoked";
  const end = dateOf(expiresAt);
  return end !== null && end.getTime() <= Date.now() ? "expired" : "active";
}

function CreateKey({ onCreated }: { onCreated(): Promise<void> }) {
  const [name, setName] = useState("");
  const [scope, setScope] = useState("trigger");
  const [token, setToken] = useState("");
  return (
    <Card title="Create a key">
      <form
        class="set"
        onSubmit={async (event) => {
          event.preventDefault();
          setToken("");
          await act(`Created ${name}.`, async () => {
            const created = await api.organization.createApiKey({ name, scope });
            setToken(created.token);
            setName("");
            await onCreated();
          });
        }}
      >
        <label>
          Name
          <input required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label>
          Scope
          <select value={scope} onChange={(event) => setScope(event.currentTarget.value)}>
            {["read", "trigger", "deploy", "full"].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <button type="submit" class="primary">
          Create
        </button>
      </form>
      {token === "" ? null : (
        <p class="token" role="status">
          The key is shown only once: <code>{token}</code> <Copy text={token} label="the key" />
        </p>
      )}
    </Card>
  );
}
