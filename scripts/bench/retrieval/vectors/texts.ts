import { LANGUAGES, readBooks, readQuestions } from '../corpus.ts';

/** Prints the texts that the bench needs vectors of, one JSON string a line: see README.md. Arguments: languages; none means all. */
const chosen = process.argv.slice(2);
for (const language of chosen.length > 0 ? chosen : LANGUAGES) {
  for (const { passages } of await readBooks(language))
    for (const { heading, content } of passages) print(heading === null ? content : `${heading}\n${content}`);
  for (const question of await readQuestions()) {
    const text = question[language];
    if (typeof text === 'string') print(text);
  }
}

function print(text: string): void {
  process.stdout.write(`${JSON.stringify(text)}\n`);
}
