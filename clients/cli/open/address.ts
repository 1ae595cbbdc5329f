import { commandGroups } from '../../../generated/commands.ts';
import { type OperationId, operations } from '../../../generated/operations.ts';
import { usage } from '../failure.ts';

/** Commands that are written by hand, and the operation that they are about. */
const BY_HAND: Record<string, OperationId> = {
  'agents chat': 'streamMessage',
  'knowledge upload': 'createKnowledgeSource',
  'auth whoami': 'getHealth',
  'auth login': 'getHealth',
};

/**
 * The fragment of the API reference for the words of a command, of a group, or for an operationId; none for no words. The form is that of
 * Scalar, which draws the page: `tag/agents/POST/agents`.
 * @throws Failure (exit 2) when nothing has that name
 */
export function referenceFragment(words: readonly string[]): string | undefined {
  if (words.length === 0) return undefined;
  const [group = '', ...rest] = words;
  const spoken = words.join(' ');
  if (words.length === 1 && Object.hasOwn(operations, group)) return fragmentOf(group as OperationId);
  const byHand = Object.hasOwn(BY_HAND, spoken) ? BY_HAND[spoken] : undefined;
  if (byHand) return fragmentOf(byHand);
  const commands = Object.hasOwn(commandGroups, group) ? commandGroups[group]?.commands : undefined;
  const command = commands?.find(({ words: own }) => own.join(' ') === rest.join(' '));
  if (command) return fragmentOf(command.operationId);
  const first = commands?.[0];
  if (first && rest.length === 0) return `tag/${operations[first.operationId].folder}`;
  throw usage(
    `The API reference has nothing for ${JSON.stringify(spoken)}.`,
    'guildhall --help lists the groups, guildhall GROUP --help its commands.',
  );
}

function fragmentOf(id: OperationId): string {
  const { folder, method, path } = operations[id];
  return `tag/${folder}/${method}${path}`;
}
