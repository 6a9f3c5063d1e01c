import SignetCore
import Testing

@testable import SignetServer

/// A file with mistakes, and the position and code of each problem.
struct BadFile: Sendable, CustomTestStringConvertible {
    let what: String
    let text: String
    let problems: [String]

    init(_ what: String, _ text: String, _ problems: String...) {
        self.what = what
        self.text = text
        self.problems = problems
    }

    var testDescription: String { what }

    /// Makes a file with one journey `J` whose nodes are the lines of `nodes`, which are not indented.
    static func journey(_ what: String, _ nodes: String, _ problems: String...) -> BadFile {
        let indented = nodes.split(separator: "\n").map { "      \($0)\n" }.joined()
        var file = BadFile(what, "journeys:\n  J:\n    nodes:\n\(indented)")
        file = BadFile(what, file.text, problems)
        return file
    }

    private init(_ what: String, _ text: String, _ problems: [String]) {
        self.what = what
        self.text = text
        self.problems = problems
    }
}

@Suite("Problems of a configuration file")
struct ConfigurationProblemTests {
    private func error(of text: String) -> ConfigurationError? {
        do {
            _ = try ServerConfiguration(yaml: text)
            return nil
        } catch {
            return error
        }
    }

    private func problems(_ text: String) -> [String] {
        (error(of: text)?.problems ?? []).map { "\($0.position) \($0.code.rawValue)" }
    }

    static let files: [BadFile] = [
        BadFile("an empty file", "", "1:1 emptyFile"),
        BadFile("a comment only", "# nothing\n", "1:1 emptyFile"),
        BadFile("a list", "- a\n", "1:1 wrongType"),
        BadFile("a string", "hello\n", "1:1 wrongType"),
        BadFile(
            "a tab", "realms:\n\t- /\n",
            "2:1 invalidYAML"),
        BadFile("a tab after spaces", "server:\r\n  issuer: x\r\n  \t- 5\r\n", "3:3 invalidYAML"),
        BadFile("a tab after a string", "server:\n  issuer: x\n\tpushTimeout: 5\n", "3:1 invalidYAML"),
        BadFile(
            "an open bracket", "realms: [/\n",
            "2:1 invalidYAML"),
        BadFile("a duplicate key", "realms: [/]\nrealms: [/]\n", "1:1 invalidYAML"),
        BadFile(
            "two documents", "realms: [/]\n---\nrealms: [/]\n",
            "2:1 invalidYAML"),
        BadFile(
            "an anchor", "realms: &a [/]\nusers:\n  - name: *a\n",
            "3:11 invalidYAML"),
        BadFile(
            "an anchor without an alias", "realms: &a [/]\n",
            "1:9 invalidYAML"),
        BadFile(
            "an anchor on a key", "users:\n  - {&b name: mira}\n",
            "2:6 invalidYAML"),
        BadFile("a key that is a list", "[a, b]: 1\n", "1:1 invalidYAML"),
        BadFile(
            "an unknown setting", "usres: []\n",
            "1:1 unknownSetting"
        ),
        BadFile(
            "settings of other types",
            """
            server:
              issuer: [a]
              pushTimeout: soon
              sessionIdleTimeout: 0
              cookieIsHTTPOnly: maybe
              backgroundColor: blue
            """,
            "2:11 wrongType",
            "3:16 invalidValue",
            "4:23 invalidValue",
            "5:21 invalidValue",
            "6:20 invalidValue"),
        BadFile(
            "numbers and Boolean values in quotes",
            """
            server:
              pushTimeout: "30"
              sessionIdleTimeout: "0"
              cookieIsHTTPOnly: "false"
            users:
              - {name: mira, locked: 'true'}
            """,
            "2:16 invalidValue",
            "3:23 invalidValue",
            "4:21 invalidValue",
            "6:26 invalidValue"),
        BadFile(
            "a journey that runs only inside other journeys",
            """
            server: {defaultJourney: Inner, transactionJourney: J}
            journeys:
              J:
                nodes:
                  inner: {type: InnerTreeEvaluatorNode, tree: Inner, outcomes: {true: success, false: failure}}
              Inner:
                innerTreeOnly: true
                nodes:
                  name: {type: UsernameCollectorNode, outcomes: {outcome: success}}
            """,
            "1:26 innerJourney"),
        BadFile(
            "an unknown journey", "server: {defaultJourney: Logn}\n",
            "1:26 unknownName"
        ),
        BadFile(
            "a blank security answer", "users:\n  - {name: mira, securityAnswers: {\"Pet?\": \" \"}}\n",
            "2:44 invalidValue"),
        BadFile("no realm", "realms: []\n", "1:9 missingSetting"),
        BadFile(
            "users",
            """
            users:
              - password: x
              - {name: mira, realm: /beta}
              - {name: noa, password: a, passwordHash: b}
              - {name: noa, password: []}
              - mira
              - {name: "", claims: [a]}
            """,
            "2:5 missingSetting",
            "3:25 unknownName",
            "4:44 invalidValue",
            "4:44 conflict",
            "5:5 duplicate",
            "5:27 invalidValue",
            "6:5 wrongType",
            "6:5 missingSetting", "6:5 duplicate",
            "7:5 duplicate",
            "7:12 invalidValue",
            "7:24 wrongType"),
        BadFile(
            "clients",
            """
            clients:
              - {id: app, refreshTokens: sometimes, redirectURI: x}
              - {id: app, redirectURIs: x}
            """,
            "2:30 invalidValue",
            "2:41 unknownSetting",
            "3:5 duplicate",
            "3:29 wrongType"),
        BadFile(
            "no journey", "journeys: {}\n", "1:11 noNodes"),
        BadFile(
            "invalid addresses and unreadable names",
            """
            server:
              issuer: "a:b"
              contextPath: "/a b%2f/?x"
              publicURL: not an address
              cookieName: a b;c
              cookieDomain: x y;z
              webAuthnOrigins: [foo, "android:apk-key-hash:abc"]
              webAuthnRelyingParty: "http://x y"
              externalLoginPageURL: "javascript:alert(1)"
            users:
              - {name: a/b}
            clients:
              - {id: "", redirectURIs: [foo, "javascript:alert(1)", "https://app.example/cb#x", "org.example.app://cb"]}
            """,
            "2:11 invalidValue",
            "3:16 invalidValue",
            "4:14 invalidValue",
            "5:15 invalidValue",
            "6:17 invalidValue",
            "7:20 invalidValue",
            "8:25 invalidValue",
            "9:25 invalidValue",
            "11:12 invalidValue",
            "13:10 invalidValue",
            "13:28 invalidValue",
            "13:28 invalidValue",
            "13:28 invalidValue"
        ),
        BadFile(
            "attributes",
            """
            attributes:
              mail: {policies: [not-empt, minimum-length, {maximum-length: 3}, {unique: 1}]}
              age: {type: numeric}
            """,
            "2:21 unknownName",
            "2:31 invalidValue",
            "2:68 invalidValue",
            "3:15 invalidValue"),
        BadFile("journeys in a list", "journeys: [a]\n", "1:11 wrongType"),
        BadFile(
            "a journey without nodes", "journeys:\n  J: {}\n",
            "2:3 noNodes"),
    ]

    static let journeys: [BadFile] = [
        .journey(
            "an unknown outcome",
            "check: {type: DataStoreDecisionNode, outcomes: {tru: success, false: failure}}",
            "4:7 missingTarget",
            "4:55 unknownOutcome"
        ),
        .journey(
            "an unknown target",
            "name: {type: UsernameCollectorNode, outcomes: {outcome: sucess}}",
            "4:63 unknownName"
        ),
        .journey(
            "a node without outcomes, and an unreachable node",
            "name: {type: UsernameCollectorNode}\nlost: {type: PasswordCollectorNode, outcomes: {default: success}}",
            "4:7 missingTarget",
            "5:7 unreachableNode"
        ),
        .journey(
            "unreachable nodes that lead to each other",
            "name: {type: UsernameCollectorNode, outcomes: {outcome: success}}\none: {type: PasswordCollectorNode, outcomes: {outcome: two}}\ntwo: {type: PasswordCollectorNode, outcomes: {outcome: one}}",
            "5:7 unreachableNode",
            "6:7 unreachableNode"
        ),
        BadFile(
            "a journey without an entry node: no more problems of its nodes are reported",
            "journeys: {J: {entry: nam, nodes: {name: {type: UsernameCollectorNode, outcomes: {outcome: success}}}}}",
            "1:23 unknownName"),
        .journey(
            "a cycle without a prompt",
            "name: {type: UsernameCollectorNode, outcomes: {outcome: check}}\ncheck: {type: DataStoreDecisionNode, outcomes: {default: lock}}\nlock: {type: AccountLockoutNode, outcomes: {outcome: check}}",
            "5:7 infiniteLoop"
        ),
        BadFile(
            "a cycle through an inner journey without a prompt; with a prompt it is allowed",
            """
            journeys:
              J:
                nodes:
                  quiet: {type: InnerTreeEvaluatorNode, tree: Quiet, outcomes: {default: quiet}}
              K:
                nodes:
                  asking: {type: InnerTreeEvaluatorNode, tree: Outer, outcomes: {default: asking}}
              Quiet:
                nodes:
                  check: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}
              Outer:
                nodes:
                  ask: {type: InnerTreeEvaluatorNode, tree: Asking, outcomes: {true: success, false: failure}}
              Asking:
                nodes:
                  name: {type: UsernameCollectorNode, outcomes: {outcome: success}}
            """,
            "4:7 infiniteLoop"
        ),
        .journey(
            "an outcome that neither this node nor AM's has",
            "send: {type: PushAuthenticationSenderNode, outcomes: {SENT: success, NOT_REGISTERED: failure, SKIPED: failure}}",
            "4:101 unknownOutcome"
        ),
        .journey(
            "passkey origins that no browser sends",
            "key: {type: WebAuthnAuthenticationNode, relyingPartyDomain: \"http://x y\", origins: [\"nonsense\"], outcomes: {default: failure}}",
            "4:67 invalidValue",
            "4:90 invalidValue"
        ),
        .journey(
            "an outcome without a target, and one target too many",
            "check: {type: DataStoreDecisionNode, outcomes: {true: , false: failure, default: failure}}\n",
            "4:61 missingTarget"),
        .journey(
            "a default although every outcome has a target",
            "check: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure, default: failure}}\n",
            "4:86 unusedDefault"),
        .journey(
            "an unknown type, without the problems that follow from it",
            "name: {type: UserNameCollectorNode, prompt: x, outcomes: {outcome: there}}",
            "4:20 unknownName"
        ),
        .journey(
            "no type", "name: {outcomes: {outcome: success}}",
            "4:13 missingSetting"),
        .journey(
            "an unreadable node, and the problems of another node",
            "check: {type: DataStoreDecisionNode, outcomes: {tru: success, default: nam}}\nname: {typ: x, y: z}\nlost: {type: SuccessNode}",
            "4:55 unknownOutcome",
            "4:78 unknownName",
            "5:13 missingSetting"),
        .journey(
            "an unknown property",
            "limit: {type: RetryLimitDecisionNode, retryLimits: 3, outcomes: {default: failure}}",
            "4:45 unknownSetting"
        ),
        .journey(
            "a node that is named like an end",
            "success: {type: UsernameCollectorNode, outcomes: {outcome: success}}",
            "4:7 reservedName"),
        .journey(
            "nodes that cannot be on a page",
            "page:\n  type: PageNode\n  nodes: [{type: DataStoreDecisionNode}, {type: UsernameCollectorNode, prompt: x}]\n  outcomes: {outcome: success}",
            "6:24 notEmbeddable",
            "6:78 unknownSetting"),
        .journey(
            "a node that must be the last on a page, and one that needs its own page",
            "page:\n  type: PageNode\n  nodes:\n    - {type: ChoiceCollectorNode, choices: [a, b]}\n    - {type: UsernameCollectorNode}\n    - {type: PushWaitNode}\n    - {type: PageNode, nodes: [{type: PasswordCollectorNode}]}\n    - {type: ScriptedDecisionNode}\n  outcomes: {outcome: success}",
            "7:20 notEmbeddable",
            "9:20 notEmbeddable",
            "10:20 notEmbeddable",
            "11:20 notEmbeddable"
        ),
        .journey(
            "a refused node on a page, without problems of the page's outcomes",
            "page:\n  type: PageNode\n  nodes: [{type: UsernameCollectorNode}, {type: DataStoreDecisionNode}]\n  outcomes: {true: success, false: lost}\nlost: {type: FailureNode}",
            "6:55 notEmbeddable"
        ),
        .journey(
            "an unreadable node on a page, without problems of the page's outcomes but with those of their targets",
            "page:\n  type: PageNode\n  nodes: [{type: UsernameCollectorNode}, {type: ChoiceColectorNode, choices: [a, b]}]\n  outcomes: {a: success, b: lots}\nlost: {type: FailureNode}",
            "6:55 unknownName",
            "7:35 unknownName",
            "8:7 unreachableNode"
        ),
        .journey(
            "outcomes of a page that are not those of its last node",
            "page:\n  type: PageNode\n  nodes: [{type: UsernameCollectorNode}, {type: ChoiceCollectorNode, choices: [a, b]}]\n  outcomes: {outcome: success, b: failure}",
            "4:7 missingTarget",
            "7:20 unknownOutcome"),
        .journey(
            "an empty page", "page: {type: PageNode, outcomes: {outcome: success}}",
            "4:13 noNodes"),
        .journey(
            "choices",
            "choice: {type: ChoiceCollectorNode, choices: [a, b, a], defaultChoice: c, outcomes: {default: failure}}",
            "4:52 duplicate",
            "4:78 unknownName"),
        .journey(
            "a table",
            "script:\n  type: ScriptedDecisionNode\n  table:\n    - {when: {name: x}, outcome: a}\n    - {when: x}\n    - {when: {username: {a: b}}, outcome: a}\n  outcomes: {default: failure}",
            "7:21 unknownName",
            "8:13 missingSetting",
            "8:20 wrongType",
            "9:31 wrongType"),
        .journey(
            "a failure's attribute and policies without the reason that needs them",
            "one: {type: ChoiceCollectorNode, choices: [a, b, c], outcomes: {a: two, b: three, c: four}}\ntwo: {type: FailureNode, reason: lockedOut, attribute: mail}\nthree: {type: FailureNode, policies: [not-empty]}\nfour: {type: FailureNode, policies: [not-empty], reason: lost}",
            "5:62 conflict",
            "6:44 conflict",
            "7:64 invalidValue"),
        .journey(
            "an unknown inner journey, and a recursive one",
            "one: {type: InnerTreeEvaluatorNode, tree: K, outcomes: {true: two, false: failure}}\ntwo: {type: InnerTreeEvaluatorNode, tree: J, outcomes: {default: failure}}",
            "2:3 recursiveJourney",
            "4:7 unknownName"),
    ]

    @Test("All mistakes of a configuration file are reported with line, column and code", arguments: files + journeys)
    func reportsMistakesOfFile(file: BadFile) {
        #expect(problems(file.text) == file.problems)
    }

    @Test("A problem's message names the node, the mistake and a similar name, and lists the valid names")
    func problemMessageSuggestsValidName() throws {
        let texts = [
            "server: {pushTimeout: \"30\"}": "1:23: server: `pushTimeout` must be an integer, 1 to 86400, without quotes",
            "usres: []":
                "1:1: there is no setting `usres`: did you mean `users`? (valid settings: `server`, `push`, `email`, `realms`, `attributes`, `languages`, `users`, `clients`, `journeys`, `profile`, `scopeClaims`)",
            "journeys: {J: {nodes: {a: {type: DataStoreDecisionNode, outcomes: {tru: success, default: failure}}}}}":
                "1:68: journey `J`, node `a`: Data Store Decision has no outcome `tru`: did you mean `true`? (valid names: `true`, `false`)",
        ]
        for (text, message) in texts { #expect(error(of: text)?.description == message) }
    }

    @Test("Problem messages never contain passwords or secrets")
    func problemMessagesHaveNoSecrets() {
        let text = """
            users:
              - {name: mira, password: {horse: staple}, passwordHash: horse-hash, lockd: 1}
              - {name: noa, password:horse}
              - {name: ada, password horse}
            clients:
              - {id: app, secret: [horse-secret]}
              - {id: other, secret:horse}
            """
        let all = (error(of: text)?.problems ?? []).map(\.description).joined(separator: "\n")
        #expect(all.contains("lockd") && !all.contains("horse") && !all.contains("staple"))
    }
}
