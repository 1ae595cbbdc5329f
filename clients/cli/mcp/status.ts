import type { Register } from '../commands.ts';
import type { Context } from '../context.ts';
import { examples } from '../examples.ts';
import { Failure, toFailure } from '../failure.ts';
import type { Check } from './check.ts';
import { checkClient } from './checkClient.ts';
import { report } from './rows.ts';
import { chosenTargets, placesOf, type ScopeOptions, withScopeFlags } from './scopeFlags.ts';
import { wantedServer } from './serverFlags.ts';

/** `guildhall mcp status`: looks at everything between the login and a server that answers. Changes nothing. */
export const register: Register = (command, context) => {
  withScopeFlags(command)
    .addHelpText('after', examples(['guildhall mcp status', 'guildhall mcp status codex --json']))
    .action(async (words: string[], options: ScopeOptions) => status(context(), words, options));
};

async function status(context: Context, words: string[], options: ScopeOptions): Promise<void> {
  const { targets, scope, named } = chosenTargets(words, options, placesOf(context), { mayBeNone: true });
  const checks = await loginChecks(context);
  const wanted = await wantedServer(context, {});
  const seen = new Map<string, Promise<string | number>>();
  for (const target of targets)
    checks.push(...(await checkClient(context, { target, scope, name: options.name, named, wanted, seen })));
  if (!checks.some(({ about }) => about.endsWith(' server')))
    checks.push({
      about: 'clients',
      state: 'wrong',
      message: `No client has the server ${options.name}.`,
      fix: 'Run guildhall mcp install.',
      exitCode: 1,
    });
  const wrong = checks.filter(({ state }) => state === 'wrong');
  const first = wrong[0];
  const failure =
    first &&
    new Failure(
      'mcp_status',
      first.exitCode ?? 1,
      wrong.length === 1 ? first.message : `${wrong.length} things are wrong. The first: ${first.message}`,
      { hint: first.fix ?? undefined },
    );
  const rows = checks.map(({ exitCode: _exitCode, ...check }) => check);
  const lines = checks.flatMap(({ state, about, message: what, fix }) => [
    [state === 'wrong' ? 'WRONG' : state, about, what],
    ...(fix ? [['', '', `→ ${fix}`]] : []),
  ]);
  await report(context, rows, lines, failure);
}

/** Whether there is a login, whether its service answers, and whether it takes the key. */
async function loginChecks(context: Context): Promise<Check[]> {
  const login = await context.login().catch((error) => toFailure(error));
  if (login instanceof Failure)
    return [{ about: 'login', state: 'wrong', message: login.message, fix: loginFix(login), exitCode: login.exitCode }];
  const { source, profile, baseUrl } = login;
  const found: Check =
    profile === undefined
      ? {
          about: 'login',
          state: 'note',
          message: `The key comes from ${source}, which clients do not get.`,
          fix: 'Save it with guildhall auth login.',
        }
      : { about: 'login', state: 'ok', message: `Profile ${profile} of ${source}.`, fix: null };
  try {
    const { askHealth } = await import('../auth/health.ts');
    const { workspacePublicId } = await askHealth(context, login);
    return [
      found,
      {
        about: 'service',
        state: 'ok',
        message: `${baseUrl} takes the key: workspace ${workspacePublicId}.`,
        fix: null,
      },
    ];
  } catch (error) {
    const { message, hint, exitCode } = toFailure(error);
    const fix = exitCode === 4 ? 'Run guildhall auth login --force with a key that works.' : (hint ?? null);
    return [found, { about: 'service', state: 'wrong', message: `${baseUrl}: ${message}`, fix, exitCode }];
  }
}

/** The server reads a saved login, so nothing else than one helps. */
function loginFix({ code, hint }: Failure): string | null {
  return code === 'no_credential' ? (hint?.replace(/, or set .*/, '.') ?? null) : (hint ?? null);
}
