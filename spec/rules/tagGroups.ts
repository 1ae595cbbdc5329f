import type { Document, Rule } from './types.ts';

type TagDocument = Document & { tags?: { name: string }[]; 'x-tagGroups'?: { name: string; tags: string[] }[] };

/**
 * Each tag is in exactly one of `x-tagGroups`, if there are groups: readers of the reference find 31 tags by their groups, and one that is
 * in none is not shown.
 */
export const tagGroups: Rule = () => ({
  Root(root, { report, location }) {
    const { tags = [], 'x-tagGroups': groups } = root as TagDocument;
    if (!groups) return;
    const names = new Set(tags.map(({ name }) => name));
    const grouped = new Set<string>();
    for (const [at, group] of groups.entries())
      for (const [index, tag] of group.tags.entries()) {
        const place = location.child(['x-tagGroups', at, 'tags', index]);
        if (!names.has(tag)) report({ message: `${tag} is not a tag of the document.`, location: place });
        else if (grouped.has(tag)) report({ message: `${tag} is in two groups.`, location: place });
        grouped.add(tag);
      }
    for (const [index, { name }] of tags.entries())
      if (!grouped.has(name))
        report({ message: `${name} is in no group of x-tagGroups.`, location: location.child(['tags', index]) });
  },
});
