import type { AgentScope } from '../agent/tool.ts';
import { audioModelName } from '../audio/models.ts';
import type { Capability } from './capability.ts';

/** Replies are also read aloud (see audio/speak.ts), where a model that speaks is configured. */
export const speechCapability = {
  name: 'speech',
  forPeopleOnly: true,
  isActive: ({ snapshot, runtime, resources }: Pick<AgentScope, 'snapshot' | 'runtime' | 'resources'>) =>
    snapshot.audioResponseEnabled && audioModelName(runtime.models, 'speech', resources.model) !== undefined,
  section: () => `# Voice

Your reply is also read aloud. Write as people speak: short sentences and plain words, in the language of the user. Use no Markdown, tables, code, \
emoji or web addresses unless the user asks for them; they are not read aloud. Put numbers, dates and units the way they are said.`,
} satisfies Capability;
