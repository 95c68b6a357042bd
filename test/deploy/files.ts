/** Reads the files of `deploy/`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { root } from "../support/runtimes.ts";

export const readDeploy = (path: string): string => readFileSync(join(root, "deploy", path), "utf8");

export interface ComposeService {
  image: string;
  build?: { context: string; dockerfile: string };
  depends_on?: Record<string, { condition: string }>;
  environment: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  healthcheck?: { test: string[] };
  read_only?: boolean;
  cap_drop?: string[];
  stop_grace_period?: string;
}

export interface Compose {
  services: Record<string, ComposeService>;
  volumes: Record<string, null>;
}

export const compose: Compose = parse(readDeploy("compose.yaml"), { merge: true });
export const isServer = (service: ComposeService): boolean => service.image === "svc";

interface Probe {
  httpGet: { path: string; port: string };
}

export interface Container {
  args: string[];
  ports: { name: string; containerPort: number }[];
  envFrom: { secretRef: { name: string } }[];
  env: { name: string; value: string }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
  resources: Record<"requests" | "limits", Record<string, string>>;
  securityContext: Record<string, unknown>;
  volumeMounts: { name: string; mountPath: string }[];
}

interface PodTemplate {
  metadata: { labels: Record<string, string> };
  spec: {
    containers: Container[];
    volumes: { name: string }[];
    securityContext: Record<string, unknown>;
    terminationGracePeriodSeconds: number;
  };
}

export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  stringData?: Record<string, string>;
  spec?: {
    template?: PodTemplate;
    selector: Record<string, string> & { matchLabels?: Record<string, string> };
    ports?: { port: number; targetPort: string }[];
  };
}

export const kubernetes: KubernetesObject[] = ["api", "worker", "secret.example"].flatMap((name) =>
  parseAllDocuments(readDeploy(`kubernetes/${name}.yaml`)).map((document): KubernetesObject => {
    if (document.errors.length > 0) throw new AggregateError(document.errors, name);
    return document.toJS();
  }),
);

/** The variables that the server reads. */
export function serverVariables(): ReadonlySet<string> {
  const parts = readdirSync(join(root, "server/config")).map((name) => `server/config/${name}`);
  const text = ["server/config.ts", ...parts]
    .map((path) => readFileSync(join(root, path), "utf8"))
    .join("\n");
  return new Set(text.match(/\bSVC_[A-Z_]+/g));
}
