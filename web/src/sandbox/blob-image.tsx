/** Shows bytes as an image: the page's policy allows no data: URLs, but object URLs that the page made. */
import { useEffect, useState } from 'react';

interface BlobImageProps {
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
  alt: string;
}

export function BlobImage({ bytes, type, alt }: BlobImageProps) {
  const [url, setUrl] = useState<string | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(made);
    setFailed(false);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  if (failed) return <div className="dimmed">This image is damaged.</div>;
  return url && <img src={url} alt={alt} onError={() => setFailed(true)} />;
}
