import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemClock } from '../../core/clock.ts';
import { SecretBox } from '../../core/secrets.ts';
import type { Database } from '../../db/connect.ts';
import { mailSenderOf } from '../../integrations/mail/mailSender.ts';
import { folderStore } from '../../integrations/storage/folder.ts';
import { Toolkits } from '../../integrations/toolkits/toolkits.ts';
import { HubNames } from '../../runtime/hubs/hubNames.ts';
import { Runtime } from '../../runtime/runtime.ts';
import { readConfig } from '../../server/config.ts';
import { CommandError } from './command.ts';
import { fromEnv } from './fromEnv.ts';

/**
 * The run-time as a command uses it that asks what agents are or find: with the models and services of `env`, as the service has them. It
 * opens no secret and writes no file. Throws CommandError when `env` is not valid.
 */
export function adminRuntime(database: Database, env: NodeJS.ProcessEnv): Runtime {
  const config = fromEnv(env, readConfig);
  const { allowPrivateNetwork } = config;
  const clock = systemClock;
  return new Runtime({
    models: config.models,
    allowPrivateNetwork,
    clock,
    secrets: new SecretBox(() => {
      throw new CommandError('This command opens no secrets');
    }),
    files: folderStore(join(resolve(config.dataDir), 'files')),
    temporaryDir: tmpdir(),
    toolkits: new Toolkits({ ...config.toolkits, allowPrivateNetwork }),
    webSearch: config.webSearch,
    payments: config.payments,
    channels: { ...config.channels, allowPrivateNetwork, clock },
    mail: mailSenderOf(config.mail, join(resolve(config.dataDir), 'mails')),
    hubDomain: config.hubDomain,
    hubNames: new HubNames(database.keys, clock),
    system: database.system,
  });
}
