import { json, verbose } from "../arguments.ts";
import { type Command, command } from "../command.ts";
import { confirm } from "../confirm.ts";
import { environmentOf, openConnection } from "../connection.ts";
import { deployedText } from "../deployment-text.ts";
import { print, printJson } from "../output.ts";
import { activeDeployment } from "../plan/active.ts";
import { isEmpty, nothing, planChanges } from "../plan/plan.ts";
import { sideOfDeployment, sideOfProject } from "../plan/sides.ts";
import { planText } from "../plan/text.ts";
import { prepare } from "../push/prepare.ts";
import { say } from "../say.ts";
import { out } from "../style.ts";
import { indent } from "../table.ts";
import { bytes, cleanLine, count, duration, prettyJson } from "../text.ts";

const push: Command = command({
  about:
    "Checks the project in this folder, shows what would change, asks, uploads what the service has not stored yet\nand deploys it. It returns when every webhook and schedule is live.",
  args: {
    environment: {
      type: "positional",
      required: false,
      description: "Where to deploy; production, or the environment of SVC_BASE_URL",
    },
    "dry-run": { type: "boolean", description: "Show what would change and deploy nothing" },
    force: { type: "boolean", description: "Do not ask" },
    redeploy: { type: "boolean", description: "Deploy also when nothing has changed" },
    ...json,
    verbose: {
      ...verbose.verbose,
      description: "Also every packaged file, every change and the time of each step",
    },
  },
  examples: [
    ["svc push --dry-run", "What a push would change"],
    ["svc push staging --force", "Deploy to another environment, without a question"],
  ],
  async run(values) {
    const startedAt = performance.now();
    const connection = openConnection({
      ...values,
      missingKey: {
        message: "SVC_API_KEY is not set.",
        advice: "Set it and repeat: export SVC_API_KEY=<your key>",
      },
    });
    const environment = values.environment ?? environmentOf(connection.baseUrl) ?? "production";
    const project = await prepare(process.cwd(), values);
    const { definition, packed } = project;
    const what = cleanLine(`${definition.name} ${definition.version}`);

    const deployments = await connection.client("deployments");
    const active = await activeDeployment(deployments, definition.name, environment);
    const isSame = active !== null && active.digest === packed.digest;
    // What is active already was loaded when it was deployed.
    if (!isSame) await project.checkModules();
    const plan = planChanges(
      active === null ? nothing : sideOfDeployment(active),
      isSame ? sideOfDeployment(active) : sideOfProject(definition, await project.fileDigests()),
    );

    if (values["dry-run"] && values.json) {
      return print(
        prettyJson({
          project: definition.name,
          version: definition.version,
          environment,
          active_deployment_id: active?.deploymentId ?? null,
          digest: packed.digest,
          size_bytes: packed.sizeBytes,
          file_count: packed.fileCount,
          unchanged: isSame,
          plan,
        }),
      );
    }
    if (isSame && !values.redeploy) {
      if (values.json) {
        const { DeploymentSchema } = await import("../../proto/svc/v1/deployment_pb.ts");
        return printJson(DeploymentSchema, { ...active, files: [], unchanged: true });
      }
      say.done(`Nothing has changed: ${what} is active in ${environment} already.`);
      return print(deployedText(active));
    }

    if (!values.json) {
      const from =
        active === null ? "" : ` ${out.dim(`(now ${cleanLine(active.version)}, ${active.deploymentId})`)}`;
      say.line(`${what} → ${environment} at ${connection.baseUrl}${from}`);
      say.line(isEmpty(plan) ? "  nothing differs" : planText(plan, values));
      say.line(`  ${out.dim(`package: ${count(packed.fileCount, "file")}, ${bytes(packed.sizeBytes)}`)}\n`);
    }
    if (values["dry-run"]) return say.line("Nothing was deployed.");
    await confirm(`Deploy to ${environment}?`, values);

    const { uploadPackage } = await import("../push/upload.ts");
    const uploadStartedAt = performance.now();
    const wasSent = await uploadPackage(deployments, packed);
    if (values.verbose) {
      const took = duration(performance.now() - uploadStartedAt);
      say.detail(
        wasSent ? `Uploaded ${bytes(packed.sizeBytes)} in ${took}.` : "The package was stored already.",
      );
    }
    const deployment = await deployments.createDeployment({
      digest: packed.digest,
      environment,
      redeploy: values.redeploy,
    });
    if (values.json) {
      const { DeploymentSchema } = await import("../../proto/svc/v1/deployment_pb.ts");
      return printJson(DeploymentSchema, deployment);
    }
    say.done(`Deployed ${what} to ${environment} in ${duration(performance.now() - startedAt)}.`);
    print(deployedText(deployment));
    const [first] = [...definition.agents, ...definition.workflows];
    const elsewhere = environment === "production" ? "" : ` --environment ${environment}`;
    const next = [
      ...(first === undefined ? [] : [`svc run ${first.name}${elsewhere}`]),
      ...(deployment.webhooks.length === 0 ? [] : [`svc webhook list --verbose${elsewhere}`]),
      `svc logs --follow${elsewhere}`,
    ];
    say.line(`\nNext:\n${indent(next.join("\n"))}`);
  },
});

export default push;
