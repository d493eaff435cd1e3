import { describe, expect, it } from 'vitest';
import { readProcfile } from '../../runtime/services/procfile.ts';
import { projectFiles, readProjectFile } from './source-tree.ts';

interface PackageFile {
  readonly bin: Record<string, string>;
  readonly scripts: Record<string, string>;
  readonly overrides: Record<string, string>;
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly optionalDependencies: Record<string, string>;
}

describe('package.json', () => {
  const manifest = JSON.parse(readProjectFile('package.json')) as PackageFile;

  it('pins every version exactly', () => {
    const { dependencies, devDependencies, optionalDependencies, overrides } = manifest;
    const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies, ...overrides });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it('names scripts and programs that exist as sources', () => {
    const scripts = Object.values(manifest.scripts).flatMap((command) => /^node (\S+)/.exec(command)?.[1] ?? []);
    const programs = Object.values(manifest.bin).map(sourceOf);
    expect([...scripts, ...programs].filter((path) => !projectFiles.includes(path))).toEqual([]);
  });

  it('agrees with package-lock.json', () => {
    const lock = JSON.parse(readProjectFile('package-lock.json')) as { packages: Record<string, Partial<PackageFile>> };
    const { dependencies, devDependencies, optionalDependencies } = lock.packages['']!;
    expect({ dependencies, devDependencies, optionalDependencies }).toEqual({
      dependencies: manifest.dependencies,
      devDependencies: manifest.devDependencies,
      optionalDependencies: manifest.optionalDependencies,
    });
  });
});

describe('the Procfile', () => {
  it('names processes that exist as sources', () => {
    const sources = readProcfile(readProjectFile('Procfile')).map(({ args }) => sourceOf(args[0] ?? ''));
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.filter((path) => !projectFiles.includes(path))).toEqual([]);
  });
});

describe('a file of the project', () => {
  it('holds no path of a machine on which it was written', () => {
    const machinePath = new RegExp(`(?<![\\w.$}*~-])/(?:${['work', 'root', 'home', 'Users'].join('|')})/[\\w.-]`);
    expect(projectFiles.filter((path) => machinePath.test(readProjectFile(path)))).toEqual([]);
  });

  it('holds no address of a package registry', () => {
    const registry = /https?:\/\/[\w.-]*(?:registry|npmjs|artifactory|nexus|mirror)[\w.-]*/i;
    expect(projectFiles.filter((path) => registry.test(readProjectFile(path)))).toEqual([]);
  });

  it('ends with a line feed and has no CR', () => {
    const text = projectFiles.filter((path) => /\.(ts|mjs|sql|md|json|yaml)$|^(Procfile|LICENSE|\.\w+)$/.test(path));
    expect(
      text.filter((path) => !readProjectFile(path).endsWith('\n') || readProjectFile(path).includes('\r')),
    ).toEqual([]);
  });
});

/** The source of a compiled file. */
function sourceOf(path: string): string {
  return path.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, '.ts');
}
