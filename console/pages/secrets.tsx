/** Names of secrets. Values are never shown. */
import { useState } from "preact/hooks";
import type { Secret } from "../../proto/svc/v1/organization_pb.ts";
import { Card, Empty, Failure, Heading, Loading, Time } from "../components/basics.tsx";
import { ConfirmButton } from "../components/confirm.tsx";
import { type Column, Table } from "../components/table.tsx";
import { api, environment } from "../lib/api.ts";
import { useLoad } from "../lib/load.ts";
import { act } from "../lib/notices.ts";
import { allows } from "../lib/session.ts";

export function SecretsPage() {
  const { data, error, loading, reload } = useLoad(
    (signal) => api.organization.listSecrets({ pageSize: 1000 }, { signal }),
    "secrets",
  );
  const columns: readonly Column<Secret>[] = [
    { title: "Name", cell: ({ name }) => <code>{name}</code> },
    { title: "Environment", cell: (secret) => secret.environment || <span class="dim">all</span> },
    { title: "Set", cell: ({ updatedAt }) => <Time value={updatedAt} /> },
    ...(allows("deploy") ? [{ title: "Remove", cell: removable }] : []),
  ];

  /** The page of an environment lists the secrets of the organization too, which it cannot remove. */
  function removable(secret: Secret) {
    return environment === "" || secret.environment === environment ? removeButton(secret) : null;
  }

  function removeButton({ name, environment: of }: Secret) {
    return (
      <ConfirmButton
        label="Remove"
        kind="danger"
        question={`Remove the secret ${name} of ${of || "all environments"}?`}
        detail="Agents that read it get undefined, and webhooks that it signs refuse all requests."
        onConfirm={() =>
          act(`Removed ${name}.`, async () => {
            await api.organization.deleteSecret({ name, environment: of });
            await reload();
          })
        }
      />
    );
  }

  return (
    <>
      <Heading title="Secrets" />
      {error !== undefined ? <Failure error={error} onRetry={reload} /> : null}
      {loading ? <Loading /> : null}
      {data === undefined ? null : data.secrets.length === 0 ? (
        <Empty title="No secrets are set.">
          <p>
            Agents read them as <code>ctx.secrets.NAME</code>.
          </p>
        </Empty>
      ) : (
        <Table
          label="Secrets"
          columns={columns}
          rows={data.secrets}
          keyOf={({ name, environment: of }) => `${of}/${name}`}
        />
      )}
      {allows("deploy") ? <SetSecret onSet={reload} /> : null}
    </>
  );
}

function SetSecret({ onSet }: { onSet(): Promise<void> }) {
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const [target, setTarget] = useState(environment);
  return (
    <Card title="Set a secret">
      <form
        class="set"
        onSubmit={async (event) => {
          event.preventDefault();
          const done = await act(`Set ${name}.`, () =>
            api.organization.setSecret({ name, value, environment: target }),
          );
          if (!done) return;
          setName("");
          setValue("");
          await onSet();
        }}
      >
        <label>
          Name
          <input
            required
            pattern="[A-Za-z][A-Za-z0-9_]*"
            placeholder="GITHUB_SECRET"
            value={name}
            onInput={(event) => setName(event.currentTarget.value.trim())}
          />
        </label>
        <label>
          Value
          <input
            type="password"
            required
            autocomplete="off"
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </label>
        <label>
          Environment
          <input
            placeholder="all"
            value={target}
            onInput={(event) => setTarget(event.currentTarget.value.trim())}
          />
        </label>
        <button type="submit" class="primary">
          Set
        </button>
      </form>
    </Card>
  );
}
