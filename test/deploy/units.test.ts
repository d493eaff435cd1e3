import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readProcfile } from '../../runtime/services/procfile.ts';
import { projectFiles, readProjectFile, root } from '../conventions/source-tree.ts';
import { useTemporaryDirectory } from '../support/feeds.ts';

const run = promisify(execFile);
const folder = await useTemporaryDirectory();
const units = projectFiles.filter((path) => /^deploy\/systemd\/.*\.service$/.test(path));
const programs = readProcfile(readProjectFile('Procfile'));

describe('the units of systemd', () => {
  it('run each process of the Procfile, and the migrations, from the installed folder', () => {
    const commands = units.map((path) => /^ExecStart=(.*)$/m.exec(readProjectFile(path))![1]);
    expect(commands.sort()).toEqual(
      [...programs.map(({ args }) => args[0]), 'dist/cli.js migrate']
        .map((program) => `/usr/bin/node /opt/caller-trust/${program}`)
        .sort(),
    );
    const wanted = /^Wants=(.*)$/m.exec(readProjectFile('deploy/systemd/caller-trust.target'))![1]!.split(' ');
    expect(wanted).toEqual(programs.map(({ name }) => `caller-trust-${name}.service`));
  });

  it('share the user, the state directory and what the system keeps from them', () => {
    const hardening = readProjectFile('deploy/systemd/caller-trust-.service.d/hardening.conf');
    for (const line of ['User=caller-trust', 'ProtectSystem=strict', 'NoNewPrivileges=yes', 'CapabilityBoundingSet='])
      expect(hardening.split('\n')).toContain(line);
    for (const path of units) expect(readProjectFile(path)).not.toMatch(/^(User|ProtectSystem|NoNewPrivileges)=/m);
  });
});

const missing = !existsSync('/usr/bin/systemd-analyze');
describe.skipIf(missing)(missing ? 'systemd-analyze is not installed' : 'systemd-analyze', () => {
  /** The units with this Node instead of the installed one, which must exist for the check. */
  function placeUnits(): string[] {
    const place = join(folder, 'units');
    cpSync(join(root, 'deploy', 'systemd'), place, { recursive: true });
    const files = readdirSync(place).filter((name) => name.endsWith('.service') || name.endsWith('.target'));
    for (const name of files) {
      const text = readFileSync(join(place, name), 'utf8');
      writeFileSync(join(place, name), text.replace('/usr/bin/node', process.execPath));
    }
    return files.map((name) => join(place, name));
  }

  it('finds no fault in them, and no unit that is exposed more than to 2.5 of 10', async () => {
    const files = placeUnits();
    const env = { ...process.env, SYSTEMD_UNIT_PATH: `${join(folder, 'units')}:` };
    const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', ...files], { env });
    expect(`${stdout}${stderr}`).toBe('');
    for (const file of files.filter((name) => name.endsWith('.service'))) {
      const { stdout: table } = await run('systemd-analyze', ['security', '--offline=true', '--threshold=25', file], {
        env,
      });
      expect(table).toMatch(/Overall exposure level/);
    }
  });
});
