/** Chooses the page of the address. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Layout } from "./components/layout.tsx";
import { Notices } from "./components/notices.tsx";
import { route } from "./lib/router.ts";
import { session } from "./lib/session.ts";
import { ComparePage } from "./pages/compare.tsx";
import { DeliveryPage } from "./pages/delivery.tsx";
import { DeploymentPage } from "./pages/deployment/page.tsx";
import { DeploymentsPage } from "./pages/deployments.tsx";
import { ExecutionPage } from "./pages/execution/page.tsx";
import { ExecutionsPage } from "./pages/executions.tsx";
import { KeysPage } from "./pages/keys.tsx";
import { MappingPage } from "./pages/mapping.tsx";
import { NotFoundPage } from "./pages/not-found.tsx";
import { OverviewPage } from "./pages/overview.tsx";
import { RunPage } from "./pages/run.tsx";
import { SchedulePage } from "./pages/schedule.tsx";
import { SchedulesPage } from "./pages/schedules.tsx";
import { SecretsPage } from "./pages/secrets.tsx";
import { SignInPage } from "./pages/sign-in.tsx";
import { WebhooksPage } from "./pages/webhooks.tsx";

export function App() {
  const known = session.use();
  if (known === undefined) return null;
  return (
    <>
      {known === null ? (
        <SignInPage />
      ) : (
        <Layout session={known}>
          <Page />
        </Layout>
      )}
      <Notices />
    </>
  );
}

function Page() {
  const { path, query } = route.use();
  const [section = "overview", id] = path;
  const page = pageOf(section, id, query);
  useEffect(() => {
    document.title = `${section.charAt(0).toUpperCase()}${section.slice(1)} · svc`;
  }, [section]);
  // With a key of its own, a page of another resource keeps no state of the previous one.
  return <div key={`${section}/${id ?? ""}`}>{page}</div>;
}

function pageOf(section: string, id: string | undefined, query: URLSearchParams): ComponentChildren {
  switch (section) {
    case "overview":
      return <OverviewPage query={query} />;
    case "executions":
      if (id === "compare") return <ComparePage query={query} />;
      return id === undefined ? <ExecutionsPage query={query} /> : <ExecutionPage id={id} />;
    case "run":
      return <RunPage query={query} />;
    case "webhooks":
      if (id === "mapping") return <MappingPage query={query} />;
      return id === undefined ? <WebhooksPage query={query} /> : <DeliveryPage id={id} />;
    case "schedules":
      return id === undefined ? <SchedulesPage /> : <SchedulePage name={id} query={query} />;
    case "deployments":
      return id === undefined ? <DeploymentsPage query={query} /> : <DeploymentPage id={id} query={query} />;
    case "secrets":
      return <SecretsPage />;
    case "keys":
      return <KeysPage />;
    default:
      return <NotFoundPage />;
  }
}
