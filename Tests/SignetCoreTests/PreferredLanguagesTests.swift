import SignetCore
import Testing

@Suite("The languages that a user prefers")
struct PreferredLanguagesTests {
    @Test(
        "C13: The languages of an environment become a header field",
        arguments: [
            (["LANG": "de_AT.UTF-8"], "de-AT,de;q=0.9"), (["LANG": "de"], "de"), (["LANG": "sr_RS@latin"], "sr-RS,sr;q=0.9"),
            (["LANG": "en_US.UTF-8", "LC_ALL": "fr_FR", "LC_MESSAGES": "it"], "fr-FR,fr;q=0.9"),
            (["LANG": "en_US", "LC_ALL": "", "LC_MESSAGES": "it"], "it"),
            (["LANG": "en_US", "LANGUAGE": "de_AT:de:en"], "de-AT,de;q=0.9,en;q=0.8"),
            (["LANG": "en_US", "LANGUAGE": ":"], "en-US,en;q=0.9"), (["LANG": "C", "LANGUAGE": "de"], nil),
            (["LANG": "C.UTF-8"], nil), (["LANG": "POSIX"], nil), (["LANG": ""], nil), ([:], nil), (["LANG": "de\r\nX: y"], nil),
            (
                ["LANG": "a", "LANGUAGE": "a:b:c:d:e:f:g:h:i:j"],
                "a,b;q=0.9,c;q=0.8,d;q=0.7,e;q=0.6,f;q=0.5,g;q=0.4,h;q=0.3,i;q=0.2"
            ),
        ] as [([String: String], String?)])
    func readsEnvironment(environment: [String: String], header: String?) {
        #expect(PreferredLanguages.header(PreferredLanguages.tags(environment: environment)) == header)
    }

    @Test(
        "A language tag has letters, digits and hyphens",
        arguments: [("de-AT", true), ("*", true), ("", false), ("-de", false), ("de;q=1", false), ("dé", false), ("de\n", false)])
    func checksTags(text: String, isTag: Bool) {
        #expect(PreferredLanguages.isTag(text) == isTag)
    }
}
