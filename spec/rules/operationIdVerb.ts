import type { Rule } from './types.ts';

/** An operationId is a verb of a closed list, followed by a noun: `createAgent`. Options: `verbs`. */
export const operationIdVerb: Rule<{ verbs: string[] }> = ({ verbs }) => ({
  Operation({ operationId = '' }, { report, location }) {
    const [, verb, rest] = operationId.match(/^([a-z]+)([A-Z][A-Za-z0-9]*)$/) ?? [];
    if (verb && rest && verbs.includes(verb)) return;
    report({
      message: `operationId \`${operationId}\` must be one of ${verbs.join(', ')} and a noun, in camel case.`,
      location: location.child('operationId'),
    });
  },
});
