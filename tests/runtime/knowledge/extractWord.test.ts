import { readDocx } from '../../../runtime/knowledge/extract/docx.ts';
import { mendedXml } from '../../../runtime/knowledge/extract/docxXml.ts';
import { makeWordXml } from '../../support/knowledge/knowledge.ts';
import { mainThreadMs } from '../../support/processorTime.ts';

const run = (text: string, properties = '') => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
const paragraph = (content: string, properties = '') => `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;
const styled = (style: string, text: string) => paragraph(run(text), `<w:pStyle w:val="${style}"/>`);
const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(run(text))}</w:tc>`;
const style = (id: string, name: string, more = '') =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;

async function blocks(body: string, parts: Record<string, string> = {}) {
  const file = await makeWordXml(body, parts);
  return await Array.fromAsync(readDocx(new Uint8Array(file)));
}

const texts = async (body: string, parts: Record<string, string> = {}) =>
  (await blocks(body, parts)).map(({ text }) => text);

test('a table of contents is left out, by its styles or its frame', async () => {
  const styles = style('Verzeichnis1', 'toc 1') + style('Inhalt', 'TOC Heading') + style('a', 'heading 1');
  const frame =
    '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>' +
    `<w:sdtContent>${paragraph(run('Contents'))}${paragraph(run('Returns 3'))}</w:sdtContent></w:sdt>`;
  const body = `${styled('Inhalt', 'Inhalt')}${styled('Verzeichnis1', 'Returns 3')}${frame}${styled('a', 'Returns')}${paragraph(run('Within 30 days.'))}`;
  expect(await texts(body, { styles })).toEqual(['Returns', 'Within 30 days.']);
});

test('headings are those of styles made from a heading, and short paragraphs with a level of the outline', async () => {
  const styles =
    style('Firma', 'Company title', '<w:basedOn w:val="b2"/>') +
    style('b2', 'heading 2') +
    style('Clause', 'Clause', '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>');
  const outlined = '<w:outlineLvl w:val="0"/>';
  const body =
    styled('Firma', 'Deadlines') +
    styled('Clause', 'The parties agree that the goods are sent back.') +
    styled('Clause', 'Liability') +
    paragraph(run('Costs'), outlined) +
    paragraph(run('Whoever sends it pays for it.'), outlined);
  expect(await blocks(body, { styles })).toEqual([
    { type: 'heading', level: 2, text: 'Deadlines' },
    { type: 'paragraph', text: 'The parties agree that the goods are sent back.' },
    { type: 'heading', level: 3, text: 'Liability' },
    { type: 'heading', level: 1, text: 'Costs' },
    { type: 'paragraph', text: 'Whoever sends it pays for it.' },
  ]);
});

test('ruby, simple fields, directions of writing and formulas are text; hidden and deleted text is not', async () => {
  const ruby = `<w:r><w:ruby><w:rubyPr/><w:rt>${run('とうきょう')}</w:rt><w:rubyBase>${run('東京')}</w:rubyBase></w:ruby></w:r>`;
  const math =
    '<m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>';
  const body =
    paragraph(`${run('In ')}${ruby}${run(', page ')}<w:fldSimple w:instr="REF x">${run('17')}</w:fldSimple>.`) +
    paragraph(`<w:bdo w:val="rtl">${run('שלום')}</w:bdo>`) +
    paragraph(`${math}${run(' is a square.')}`) +
    paragraph(run('Secret. ', '<w:vanish/>') + run('Told.', '<w:vanish w:val="0"/>')) +
    paragraph(`<w:del>${run('twelve')}</w:del><w:ins>${run('Two years')}</w:ins>`);
  expect(await texts(body)).toEqual(['In 東京, page 17', 'שלום', 'x^2 is a square.', 'Told.', 'Two years']);
});

test('the break of a page is a space between two sentences', async () => {
  const body = paragraph(`${run('One.')}<w:r><w:br w:type="page"/></w:r>${run('Two.')}`);
  expect(await texts(body)).toEqual(['One.\nTwo.']);
});

test('a note stands below the paragraph that it belongs to', async () => {
  const footnotes = `<w:footnote w:id="2">${paragraph(run('Copies are enough.'))}</w:footnote>`;
  const body =
    paragraph(`${run('Keep the receipt')}<w:r><w:footnoteReference w:id="2"/></w:r>${run('.')}`) +
    paragraph(run('Pack the goods.'));
  expect(await texts(body, { footnotes })).toEqual([
    'Keep the receipt[1].',
    '[1] Copies are enough.',
    'Pack the goods.',
  ]);
});

test('cells keep their columns, and rows the names of these', async () => {
  const rows = [
    cell('Country') + cell('Days') + cell('Price'),
    cell('Austria', '<w:vMerge w:val="restart"/>') + cell('2') + cell('3.50'),
    cell('', '<w:vMerge/>') + cell('5') + cell('4.50'),
    cell('Brazil') + cell('') + cell('12.00'),
    cell('All prices in euros', '<w:gridSpan w:val="3"/>'),
  ];
  const header = 'Country | Days | Price';
  expect(await blocks(`<w:tbl>${rows.map((row) => `<w:tr>${row}</w:tr>`).join('')}</w:tbl>`)).toEqual([
    { type: 'row', text: header },
    { type: 'row', header, text: 'Austria | 2 | 3.50' },
    { type: 'row', header, text: 'Austria | 5 | 4.50' },
    { type: 'row', header, text: 'Brazil | | 12.00' },
    { type: 'row', header, text: 'All prices in euros' },
  ]);
});

test('elements that are never closed take time in proportion to their number', async () => {
  const styles = { headings: new Map(), outlined: new Map(), contents: new Set<string>() };
  // Quadratic, it would take 13 s.
  expect(await mainThreadMs(() => mendedXml(`<w:p>${'<w:r>'.repeat(40_000)}`, styles))).toBeLessThan(1000);
});
