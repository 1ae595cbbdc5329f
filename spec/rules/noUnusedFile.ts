import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Rule } from './types.ts';

const folders = ['paths', 'schemas', 'parameters', 'responses', 'headers', 'webhooks', 'examples'];

/** Every file of the document is reached from its index, and the index itself defines nothing but security schemes. */
export const noUnusedFile: Rule = () => {
  const used = new Set<string>();
  return {
    ref(reference, context) {
      const target = context.resolve(reference).location;
      if (target) used.add(target.source.absoluteRef);
    },
    Root: {
      leave(root, { report, location }) {
        for (const kind of Object.keys(root.components ?? {}))
          if (kind !== 'securitySchemes')
            report({
              message: `components.${kind} belongs into files of its own.`,
              location: location.child(['components', kind]).key(),
            });
        const folder = dirname(location.source.absoluteRef);
        for (const file of folders.flatMap((name) => filesBelow(join(folder, name))))
          if (!used.has(file))
            report({
              message: `Nothing refers to ${file.slice(folder.length + 1)}.`,
              location: location.child('paths').key(),
            });
      },
    },
  };
};

function filesBelow(folder: string): string[] {
  return existsSync(folder) ? globSync('**/*.yaml', { cwd: folder }).map((name) => join(folder, name)) : [];
}
