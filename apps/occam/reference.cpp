// occam reference: every verb and its options as Markdown. `make docs` puts it into docs/cli.md.
#include "verb.hpp"

namespace occam {

void register_reference(Verbs& verbs) {
  verbs.add("reference", "Write the options of all verbs as Markdown, for docs/cli.md")
      .hidden()
      .run([&verbs](const Call& call) {
        std::string text;
        for (const Verb& verb : verbs.all()) {
          if (!verb.is_hidden()) text += (text.empty() ? "" : "\n") + verb.markdown();
        }
        call.print(text);
      });
}

}  // namespace occam
