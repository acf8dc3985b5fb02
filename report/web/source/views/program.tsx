// The program's time in kernels: its launches one after the other, and which of them take most of it.
import { duration, grouped, percent } from "../format";
import { unique, type Profile } from "../profile";
import type { ViewProps } from "../view_props";

/** Returns how many times its own time the launches take for which the profile's stands. */
const timesOf = ({ kernel }: Profile) => kernel.times_this_launch ?? kernel.launches ?? 1;

const totalOf = (profile: Profile) => timesOf(profile) * (profile.kernel.time?.microseconds.mean ?? 0);

/** Returns whether there are launches to compare: three or more on a GPU, with times. */
export function isProgram(profiles: Profile[]) {
  const timed = profiles.filter((profile) => profile.kernel.time);
  return unique(timed.map((profile) => profile.kernel.gpu)).some((gpu) => timed.filter((profile) => profile.kernel.gpu === gpu).length > 2);
}

export function Program({ profiles, change }: ViewProps) {
  const timed = profiles.filter((profile) => profile.kernel.time);
  return (
    <div class="page">
      {unique(timed.map((profile) => profile.kernel.gpu)).map((gpu) => (
        <ProgramOnGpu key={gpu} gpu={gpu} profiles={timed.filter((profile) => profile.kernel.gpu === gpu)}
          show={(profile) => change({ view: "source", shown: [profile.key] })} />
      ))}
    </div>
  );
}

function ProgramOnGpu({ gpu, profiles, show }: { gpu: string; profiles: Profile[]; show(profile: Profile): void }) {
  const all = profiles.reduce((sum, profile) => sum + totalOf(profile), 0) || 1;
  const launches = profiles.reduce((sum, { kernel }) => sum + (kernel.launches ?? 1), 0);
  const order = profiles[0].entry.result.kernels;
  const inTurn = [...profiles].sort((a, b) => order.indexOf(a.kernel) - order.indexOf(b.kernel));
  const kernels = unique(inTurn.map(({ kernel }) => kernel.name));
  const ranked = [...profiles].sort((a, b) => totalOf(b) - totalOf(a));
  const text = (profile: Profile) =>
    `${profile.label}: ${duration(totalOf(profile), 0)}, ${percent(totalOf(profile) / all)} %, ${grouped(profile.kernel.launches ?? 1)} launches like it`;
  return (
    <section>
      <h2>The program's kernels on {gpu}: {duration(all, 0)}</h2>
      <p class="note">
        {grouped(profiles.length)} of {grouped(launches)} launches were modelled; each stands for the others like it, in the order in which they were first launched.
      </p>
      <div class="program-line" role="group" aria-label={`Kernels on ${gpu} in the order of their launches, as wide as their time`}>
        {inTurn.map((profile) => (
          <button key={profile.key} title={text(profile)} aria-label={text(profile)} class={`turn turn-${kernels.indexOf(profile.kernel.name) % 6}`}
            style={{ flexGrow: totalOf(profile) / all }} onClick={() => show(profile)} />
        ))}
      </div>
      <div class="scroll">
        <table class="objects">
          <thead>
            <tr><th scope="col">kernel</th><th scope="col">grid</th><th scope="col" class="num">launches</th><th scope="col" class="num">each</th><th scope="col" class="num">all of them</th><th scope="col" class="num">share</th></tr>
          </thead>
          <tbody>
            {ranked.map((profile) => (
              <tr key={profile.key}>
                <th scope="row"><i class={`turn-mark turn-${kernels.indexOf(profile.kernel.name) % 6}`} /> <button class="link" onClick={() => show(profile)}>{profile.label}</button></th>
                <td>{profile.kernel.grid.join("×")}</td>
                <td class="num">{profile.kernel.launches === undefined ? "–" : grouped(profile.kernel.launches)}</td>
                <td class="num">{duration(profile.kernel.time!.microseconds.mean, 2 * profile.kernel.time!.microseconds.std)}</td>
                <td class="num">{duration(totalOf(profile), 0)}</td>
                <td class="num">{percent(totalOf(profile) / all)} %</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
