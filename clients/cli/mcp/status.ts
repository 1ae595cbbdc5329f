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
  const checks = await loginChecks(context);
  const { targets, scope, named } = chosenTargets(words, options, placesOf(context));
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
  const message = wrong.length === 1 ? 'Something is wrong.' : `${wrong.length} things are wrong.`;
  const failure =
    first &&
    new Failure('mcp_status', first.exitCode ?? 1, `${message} First: ${first.message}`, {
      hint: first.fix ?? undefined,
    });
  const rows = checks.map(({ exitCode: _exitCode, ...check }) => check);
  await report(context, rows, failure, ['state', 'about', 'message', 'fix']);
}

/** Whether there is a login, whether its service answers, and whether it takes the key. */
async function loginChecks(context: Context): Promise<Check[]> {
  const login = await context.login().catch((error) => toFailure(error));
  if (login instanceof Failure)
    return [
      { about: 'login', state: 'wrong', message: login.message, fix: login.hint ?? null, exitCode: login.exitCode },
    ];
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
