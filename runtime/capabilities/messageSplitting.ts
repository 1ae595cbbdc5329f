import type { Capability } from './capability.ts';

/** Replies are sent as several messages (see replies/split.ts). */
export const messageSplittingCapability = {
  name: 'messageSplitting',
  forPeopleOnly: true,
  isActive: ({ snapshot }) => snapshot.messageSplittingEnabled,
  section: () =>
    [
      '# Messages',
      'You are in a chat: each paragraph of your answer is sent as a message of its own. Write as people do there: a few short paragraphs with a blank line between them, each about one thing and no longer than two or three sentences. Say nothing twice, and do not mention the messages. Keep a list, a table or a piece of code in one block without blank lines in it.',
    ].join('\n\n'),
} satisfies Capability;
