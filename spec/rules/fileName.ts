import { dirname, relative } from 'node:path';
import { kebab, methods } from './contract.ts';
import type { Operation, Rule } from './types.ts';

/**
 * A file is found by its name: a Path Item in the folder of its tag under the tail of its URL, from the last fixed segment
 * on (`/agents/{agentPublicId}` is agents/agents_agentPublicId.yaml), a webhook under its own name; schemas, parameters and responses in Pascal case.
 */
export const fileName: Rule = () => {
  let folder = '';
  const seen = new Set<string>();
  return {
    Root: {
      enter(_root, { location }) {
        folder = dirname(location.source.absoluteRef);
      },
    },
    PathItem(item, { report, rawLocation, location, key }) {
      const file = relative(folder, location.source.absoluteRef).replaceAll('\\', '/');
      const tags = new Set(methods.flatMap((method) => (item[method] as Operation | undefined)?.tags ?? []));
      const [tag = ''] = tags;
      const name = String(key);
      const wanted = name.startsWith('/') ? `paths/${kebab(tag)}/${urlTail(name)}.yaml` : `webhooks/${name}.yaml`;
      if (tags.size > 1) report({ message: `${key} has operations of two tags.`, location: rawLocation });
      else if (file !== wanted)
        report({ message: `${key} belongs into ${wanted}, not ${file}.`, location: rawLocation });
    },
    ref(reference, context) {
      const target = context.resolve(reference).location?.source.absoluteRef;
      if (!target || seen.has(target)) return;
      seen.add(target);
      const file = relative(folder, target).replaceAll('\\', '/');
      const shape = shapes.find(([start]) => file.startsWith(start))?.[1];
      if (shape && !shape.test(file)) context.report({ message: `${file} must match ${shape.source}.` });
    },
  };
};

const shapes: [string, RegExp][] = [
  ['schemas/', /^schemas\/[a-z0-9-]+\/([A-Z][a-z0-9]*)+\.yaml$/],
  ['parameters/', /^parameters\/([A-Z][a-z0-9]*)+\.yaml$/],
  ['responses/', /^responses\/([A-Z][a-z0-9]*)+\.yaml$/],
];

function urlTail(path: string): string {
  const segments = path.split('/').slice(1);
  const last = segments.findLastIndex((segment) => !segment.startsWith('{'));
  return segments.slice(Math.max(last, 0)).join('_').replace(/[{}]/g, '');
}
