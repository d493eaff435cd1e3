import type { Json } from '../../answers/json.ts';
import type { LiveVerification } from '../../answers/verification-answers.ts';
import { Notice, ProblemNotice } from '../shell/components.ts';
import { asProblem, Problem, readProblem } from '../shell/request.ts';
import { html, useEffect, useState, type VNode } from '../shell/view.ts';

interface PlayerProps {
  readonly path: string;
  readonly verification: Json<LiveVerification['verification']>;
  readonly audio: { current: HTMLAudioElement | null };
  readonly onTime: (seconds: number) => void;
}

/** Plays a recording: as it was handed in, or converted where browsers, or this one, do not play that. */
export function RecordingPlayer({ path, verification: { recording, times }, audio, onTime }: PlayerProps): VNode {
  const [isRefused, setRefused] = useState(false);
  const [isConverting, setConverting] = useState(false);
  const [failure, setFailure] = useState<Problem | 'unplayable' | null>(null);
  const play = () => void audio.current?.play().catch(() => {}); // the element tells onError
  useEffect(() => {
    if (isRefused) play();
  }, [isRefused]);
  if (recording!.playback === null)
    return html`<p class="hint">${times.ended === null ? 'It can be heard when it has been opened.' : 'It could not be opened, so it cannot be heard or drawn here.'}</p>`;
  const isConverted = isRefused || recording!.playback === 'converted';
  const source = `${path}/${isConverted ? 'playback' : 'audio'}`;
  const fail = async () => {
    setConverting(false);
    if (!isConverted && isOfFormat(audio.current!.error)) setRefused(true);
    else setFailure(await whyNot(source));
  };
  const again = () => {
    setFailure(null);
    audio.current!.load();
    play();
  };
  return html`<div class="player">
    <audio controls preload="none" src=${source} ref=${audio} aria-label="The recording" controlsList=${isConverted ? 'nodownload' : null} onPlay=${() => setConverting(isConverted && audio.current!.readyState === HTMLMediaElement.HAVE_NOTHING)} onLoadedMetadata=${() => setConverting(false)} onTimeUpdate=${({ currentTarget }: { currentTarget: HTMLAudioElement }) => onTime(currentTarget.currentTime)} onError=${fail}></audio>
    <p class="hint">${isConverted ? 'Converted for playback; the original is the download. ' : ''}Listening is recorded in the audit trail. <a href=${`${path}/audio`} download>Save the original</a><span role="status">${isConverting ? ' Converting …' : ''}</span></p>
    ${failure instanceof Problem ? html`<${ProblemNotice} problem=${failure} onAgain=${again} />` : null}
    ${failure === 'unplayable' ? html`<${Notice} kind="warn"><p>This browser cannot play ${recording!.codec} in ${recording!.format}. Save the original to hear it with another program.</p></${Notice}>` : null}
  </div>`;
}

/** True for an error of what came, and not of the way here; a refusal to send anything looks the same to a browser. */
function isOfFormat(error: MediaError | null): boolean {
  return error?.code === MediaError.MEDIA_ERR_DECODE || error?.code === MediaError.MEDIA_ERR_SRC_NOT_SUPPORTED;
}

/** A media element does not say what was wrong: its source is asked for its first byte, to read the problem. */
async function whyNot(source: string): Promise<Problem | 'unplayable'> {
  try {
    const response = await fetch(source, { headers: { Range: 'bytes=0-0' }, credentials: 'same-origin' });
    return response.ok ? 'unplayable' : await readProblem(response);
  } catch (error) {
    return asProblem(error);
  }
}
