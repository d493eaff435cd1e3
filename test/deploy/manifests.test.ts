import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { SETTINGS } from '../../runtime/config.ts';
import { readProcfile } from '../../runtime/services/procfile.ts';
import { projectFiles, readProjectFile } from '../conventions/source-tree.ts';

/** Variables that are no settings of the service: Node's, PostgreSQL's image's, and that of the login's script. */
const notSettings = /^(NODE_ENV|POSTGRES_\w+|(API|INTAKE)_DATABASE_PASSWORD)$/;
const settings = new Set<string>(Object.values(SETTINGS).map(({ env }) => env));
const unknownSettings = (names: readonly string[]) =>
  names.filter((name) => !settings.has(name) && !notSettings.test(name));

const programs = readProcfile(readProjectFile('Procfile')).map(({ name, args }) => ({ name, program: args[0]! }));

interface Container {
  readonly args: readonly string[];
  readonly env?: readonly { name: string }[];
  readonly envFrom: readonly { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  readonly ports?: readonly { name: string; containerPort: number }[];
  readonly resources: { requests: { cpu: string; memory: string }; limits: { memory: string } };
  readonly securityContext: unknown;
  readonly volumeMounts: readonly { name: string; mountPath: string }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

interface Probe {
  readonly httpGet?: { path: string; port: string };
  readonly tcpSocket?: { port: string };
  readonly exec?: { command: readonly string[] };
}

interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext: unknown;
  readonly containers: readonly Container[];
  readonly volumes: readonly { name: string; persistentVolumeClaim?: { claimName: string } }[];
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { name: string; labels: Record<string, string> };
  readonly data?: Record<string, string>;
  readonly stringData?: Record<string, string>;
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: { matchLabels?: Record<string, string> };
    readonly template?: { metadata: { labels: Record<string, string> }; spec: PodSpec };
    readonly ports?: readonly { targetPort: string }[];
  };
}

describe('the manifests for Kubernetes', () => {
  const manifests = projectFiles
    .filter((path) => /^deploy\/kubernetes\/.*\.yaml$/.test(path))
    .flatMap((path) => parseAllDocuments(readProjectFile(path)).map((document) => document.toJS() as Manifest));
  const ofKind = (kind: string) => manifests.filter((each) => each.kind === kind);
  const deployments = ofKind('Deployment');
  const pods = manifests.flatMap(({ spec }) => (spec?.template === undefined ? [] : [spec.template.spec]));
  const containers = pods.flatMap((pod) => pod.containers);
  const componentOf = ({ metadata }: Manifest) => metadata.labels['app.kubernetes.io/component'];

  it('are of versions of their kinds that clusters serve', () => {
    const versions: Record<string, string> = {
      Deployment: 'apps/v1',
      Job: 'batch/v1',
      PodDisruptionBudget: 'policy/v1',
      NetworkPolicy: 'networking.k8s.io/v1',
      Service: 'v1',
      ConfigMap: 'v1',
      Secret: 'v1',
      PersistentVolumeClaim: 'v1',
    };
    expect(manifests.length).toBeGreaterThan(8);
    for (const { kind, apiVersion } of manifests) expect([kind, apiVersion]).toEqual([kind, versions[kind]]);
  });

  it('run each process of the Procfile once', () => {
    const run = deployments.map((each) => ({
      name: componentOf(each),
      program: each.spec!.template!.spec.containers[0]!.args[0],
    }));
    expect(run.sort(byName)).toEqual([...programs].sort(byName));
  });

  it('confine every container: no root, no writable root file system, no privilege, no token', () => {
    for (const pod of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
      });
    }
    for (const container of containers)
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
  });

  it('give every container memory, a place to write, and each service a probe', () => {
    for (const { resources, volumeMounts } of containers) {
      expect(resources.requests).toMatchObject({
        cpu: expect.any(String) as string,
        memory: expect.any(String) as string,
      });
      expect(resources.limits.memory).toMatch(/^\d+[MG]i$/);
      expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(
        expect.arrayContaining(['/var/lib/caller-trust', '/tmp']),
      );
    }
    for (const each of deployments)
      expect(each.spec!.template!.spec.containers[0]!.readinessProbe, componentOf(each)).toBeDefined();
  });

  it('probe paths that the API has, ports that the container names, and commands that exist', () => {
    const routes = `${readProjectFile('api/health-routes.ts')}${readProjectFile('intake/server.ts')}`;
    for (const container of containers)
      for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
        if (probe?.httpGet !== undefined) expect(routes).toContain(`app.get('${probe.httpGet.path}'`);
        const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port;
        if (port !== undefined) expect(container.ports?.map(({ name }) => name)).toContain(port);
        if (probe?.exec !== undefined) expect(probe.exec.command).toEqual(['node', 'dist/cli.js', 'doctor']);
      }
    for (const service of ofKind('Service')) {
      const ports = deployments
        .find((each) => componentOf(each) === componentOf(service))!
        .spec!.template!.spec.containers[0]!.ports!.map(({ name }) => name);
      for (const { targetPort } of service.spec!.ports!) expect(ports).toContain(targetPort);
    }
  });

  it('have a budget for each process that runs more than once, which leaves one', () => {
    const budgets = ofKind('PodDisruptionBudget');
    const several = deployments.filter(({ spec }) => spec!.replicas! > 1);
    expect(budgets.map(componentOf).sort()).toEqual(several.map(componentOf).sort());
    for (const each of [...budgets, ...deployments])
      expect(each.spec!.selector!.matchLabels).toEqual(
        deployments.find((other) => componentOf(other) === componentOf(each))!.spec!.template!.metadata.labels,
      );
  });

  it('refer to what is there: settings, secrets, volumes, claims', () => {
    const names = (kind: string) => ofKind(kind).map(({ metadata }) => metadata.name);
    for (const { envFrom, volumeMounts } of containers) {
      for (const { configMapRef, secretRef } of envFrom) {
        if (configMapRef !== undefined) expect(names('ConfigMap')).toContain(configMapRef.name);
        if (secretRef !== undefined) expect(names('Secret')).toContain(secretRef.name);
      }
      const pod = pods.find((each) => each.containers.some((container) => container.volumeMounts === volumeMounts))!;
      expect(pod.volumes.map(({ name }) => name)).toEqual(expect.arrayContaining(volumeMounts.map(({ name }) => name)));
    }
    const claims = pods.flatMap(({ volumes }) =>
      volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []),
    );
    expect([...new Set(claims)]).toEqual(names('PersistentVolumeClaim'));
    const given = [
      ...ofKind('ConfigMap').map(({ data }) => data!),
      ...ofKind('Secret').map(({ stringData }) => stringData!),
    ];
    expect(unknownSettings(given.flatMap((each) => Object.keys(each)))).toEqual([]);
    expect(unknownSettings(containers.flatMap(({ env = [] }) => env.map(({ name }) => name)))).toEqual([]);
  });

  it('give the API no secret that can write, and hold no secret that could be one', () => {
    const [api] = deployments.filter((each) => componentOf(each) === 'api');
    expect(api!.spec!.template!.spec.containers[0]!.envFrom.flatMap(({ secretRef }) => secretRef?.name ?? [])).toEqual([
      'caller-trust-api',
    ]);
    const ofApi = ofKind('Secret').find(({ metadata }) => metadata.name === 'caller-trust-api')!;
    expect(Object.keys(ofApi.stringData!).sort()).toEqual(['API_DATABASE_URL', 'API_KEY_SECRET']);
    const ofIntake = ofKind('Secret').find(({ metadata }) => metadata.name === 'caller-trust-intake')!;
    expect(Object.keys(ofIntake.stringData!)).not.toContain('DATABASE_URL');
    for (const { stringData } of ofKind('Secret'))
      for (const value of Object.values(stringData!)) expect(value).toContain('REPLACE');
  });
});

interface ComposeService {
  readonly command?: readonly string[];
  readonly environment?: Record<string, string>;
  readonly healthcheck?: { test?: readonly string[]; disable?: boolean };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Record<string, unknown>;
  readonly build?: { context: string; dockerfile: string };
  readonly profiles?: readonly string[];
}

describe('the compose file', () => {
  const { services, volumes } = parse(readProjectFile('deploy/docker/compose.yaml'), { merge: true }) as {
    services: Record<string, ComposeService>;
    volumes: Record<string, unknown>;
  };
  const { postgres, redis, migrate, ...ours } = services;

  it('runs each process of the Procfile, after the migrations, with PostgreSQL and Redis', () => {
    expect(Object.entries(ours).map(([name, { command }]) => ({ name, program: command![0] }))).toEqual(programs);
    expect(postgres!.healthcheck).toBeDefined();
    expect(redis!.command).toEqual(['redis-server', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction']);
    expect(Object.keys(migrate!.depends_on!)).toEqual(['postgres', 'redis']);
    for (const { depends_on } of Object.values(ours))
      expect(depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } });
  });

  it('confines each of them, reaches the outside by the loopback interface alone, and names settings that exist', () => {
    for (const service of [migrate!, ...Object.values(ours)]) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
      expect(projectFiles).toContain(service.build!.dockerfile);
      expect(unknownSettings(Object.keys(service.environment!))).toEqual([]);
    }
    for (const { ports = [] } of Object.values(services))
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    for (const name of ['api', 'intake']) expect(Object.keys(ours[name]!.environment!)).not.toContain('DATABASE_URL');
    expect(ours['intake']!.profiles).toEqual(['intake']); // off unless asked for
  });

  it('asks each for its health, of the worker by a command that exists', () => {
    expect(ours['worker']!.healthcheck!.test).toEqual(['CMD', 'node', 'dist/cli.js', 'doctor']);
    expect(ours['scheduler']!.healthcheck).toEqual(ours['worker']!.healthcheck);
    expect(ours['console']!.healthcheck!.test!.join(' ')).toContain('8090');
    expect(ours['api']!.healthcheck).toBeUndefined(); // that of the image
  });

  it('mounts volumes and files that are there', () => {
    for (const { volumes: mounts = [] } of Object.values(services))
      for (const source of mounts.map((mount) => mount.split(':')[0]!))
        if (source.startsWith('./')) expect(projectFiles).toContain(`deploy/docker/${source.slice(2)}`);
        else expect(Object.keys(volumes)).toContain(source);
  });
});

function byName(one: { name?: string | undefined }, other: { name?: string | undefined }): number {
  return one.name! < other.name! ? -1 : 1;
}
