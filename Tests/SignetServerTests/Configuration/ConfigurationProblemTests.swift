import SignetCore
import Testing

@testable import SignetServer

/// What is wrong with a file, and every word that is said about it.
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

    /// A file with one journey `J`, whose `nodes` are given, at the margin.
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

@Suite("What is wrong with a configuration file")
struct ConfigurationProblemTests {
    private func problems(_ text: String) -> [String] {
        do {
            _ = try ServerConfiguration(yaml: text)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    static let files: [BadFile] = [
        BadFile("nothing", "", "1:1: the file is empty: `signet serve --print-default-config` prints one to start from"),
        BadFile(
            "a comment only", "# nothing\n",
            "1:1: the file is empty: `signet serve --print-default-config` prints one to start from"),
        BadFile("a list", "- a\n", "1:1: settings belong here, each with a name and a colon, not a list"),
        BadFile("a word", "hello\n", "1:1: settings belong here, each with a name and a colon, not a single value"),
        BadFile(
            "a tab", "realms:\n\t- /\n",
            "2:1: a tab stands here: indent with spaces"),
        BadFile("a tab behind spaces", "server:\r\n  issuer: x\r\n  \t- 5\r\n", "3:3: a tab stands here: indent with spaces"),
        BadFile("a tab behind a text", "server:\n  issuer: x\n\tpushTimeout: 5\n", "3:1: a tab stands here: indent with spaces"),
        BadFile(
            "an open bracket", "realms: [/\n",
            "2:1: this is no YAML: did not find expected ',' or ']' (while parsing a flow sequence in line 1)"),
        BadFile("a key twice", "realms: [/]\nrealms: [/]\n", "1:1: `realms` stands here more than once: keep one"),
        BadFile(
            "two documents", "realms: [/]\n---\nrealms: [/]\n",
            "2:1: this is no YAML: but found another document (expected a single document in the stream in line 1)"),
        BadFile(
            "an anchor", "realms: &a [/]\nusers:\n  - name: *a\n",
            "3:11: `*a` refers to an anchor: this file has no anchors, write the value out"),
        BadFile(
            "an anchor that nothing refers to", "realms: &a [/]\n",
            "1:9: an anchor (`&`) stands here, and this file has none: take it out, or put quotes around the value"),
        BadFile(
            "an anchor at a name", "users:\n  - {&b name: mira}\n",
            "2:6: an anchor (`&`) stands here, and this file has none: take it out, or put quotes around the value"),
        BadFile("a key that is a list", "[a, b]: 1\n", "1:1: the key of a mapping is a single word here"),
        BadFile(
            "a setting that there is not", "usres: []\n",
            "1:1: there is no setting `usres`: is `users` meant? (here are `server`, `push`, `realms`, `attributes`, `users`, `clients`, `journeys`)"
        ),
        BadFile(
            "settings of other types",
            """
            server:
              issuer: [a]
              pushTimeout: soon
              sessionIdleTime: 0
              cookieIsHTTPOnly: maybe
              backgroundColor: blue
            """,
            "2:11: server: `issuer` is a text, not a list",
            "3:16: server: `pushTimeout` is a whole number, 1 to 86400, not `soon`",
            "4:20: server: `sessionIdleTime` is a whole number, 1 to 3153600000, not `0`",
            "5:21: server: `cookieIsHTTPOnly` is `true` or `false`, not `maybe`",
            "6:20: server: `backgroundColor` is six hexadecimal digits, `519387`, in quotes if it begins with `#`; not `blue`"),
        BadFile(
            "numbers and truth values in quotes",
            """
            server:
              pushTimeout: "30"
              sessionIdleTime: "0"
              cookieIsHTTPOnly: "false"
            users:
              - {name: mira, locked: 'true'}
            """,
            "2:16: server: `pushTimeout` is a whole number, 1 to 86400, without quotes",
            "3:20: server: `sessionIdleTime` is a whole number, 1 to 3153600000, not `0`",
            "4:21: server: `cookieIsHTTPOnly` is `true` or `false`, without quotes",
            "6:26: users: `locked` is `true` or `false`, without quotes"),
        BadFile(
            "a journey that is only a part of others",
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
            "1:26: server: nobody can begin the journey `Inner`: take `innerTreeOnly` out of it, or name another one"),
        BadFile(
            "a journey that there is not", "server: {defaultJourney: Logn}\n",
            "1:26: server: there is no journey `Logn`: is `Login` meant? (there are \(Journeys.starter.names.map { "`\($0)`" }.joined(separator: ", ")))"
        ),
        BadFile(
            "a blank security answer", "users:\n  - {name: mira, securityAnswers: {\"Pet?\": \" \"}}\n",
            "2:44: users: the answer to `Pet?` is blank"),
        BadFile("no realm", "realms: []\n", "1:9: there is no realm: `/` is the top one"),
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
            "2:5: users: `name` is missing: it is a text",
            "3:25: users: there is no realm `/beta`: add it to the section `realms`",
            "4:44: users: `passwordHash` is a scrypt hash in PHC form, `$scrypt$ln=14,r=8,p=1$SALT$HASH`, of 256 MiB at the most",
            "4:44: users: there is a `password` already: keep one of the two",
            "5:5: users: there is a user `noa` in the realm `/` already",
            "5:27: users: `password` is a text, in quotes if it could be taken for anything else, and not empty",
            "6:5: users: settings belong here, each with a name and a colon, not a single value",
            "6:5: users: `name` is missing: it is a text", "6:5: users: there is a user `` in the realm `/` already",
            "7:5: users: there is a user `` in the realm `/` already",
            "7:12: users: `name` is a text without slashes, and not empty, not ``",
            "7:24: users: `claims` is values by names, `{email: demo@example.test}`, not a list"),
        BadFile(
            "clients",
            """
            clients:
              - {id: app, refreshTokens: sometimes, redirectURI: x}
              - {id: app, redirectURIs: x}
            """,
            "2:30: clients: `refreshTokens` is one of `rotated`, `kept`, `none`, not `sometimes`",
            "2:41: clients: there is no setting `redirectURI`: is `redirectURIs` meant? (here are `id`, `realm`, `secret`, `redirectURIs`, `postLogoutRedirectURIs`, `scopes`, `refreshTokenGrace`, `refreshTokens`, `asksConsent`, `requiresProofKey`, `lifetimes`)",
            "3:5: clients: there is a client `app` in the realm `/` already",
            "3:29: clients: `redirectURIs` is a list of texts, `[one, another]`, not a single value"),
        BadFile(
            "no journey", "journeys: {}\n", "1:11: there is no journey: without `journeys` there are those of the starter file"),
        BadFile(
            "addresses that nobody can ask, and names that nobody can read",
            """
            server:
              issuer: "a:b"
              contextPath: "/a b%2f/?x"
              publicURL: not an address
              cookieName: a b;c
              cookieDomain: x y;z
              webAuthnOrigins: [foo, "android:apk-key-hash:abc"]
              webAuthnRelyingParty: "http://x y"
            users:
              - {name: a/b}
            clients:
              - {id: "", redirectURIs: [foo, "javascript:alert(1)", "https://app.example/cb#x", "org.example.app://cb"]}
            """,
            "2:11: server: `issuer` is a name without colons, and not empty, not `a:b`",
            "3:16: server: `contextPath` is a path of letters, digits and `-._~`, such as `/am`, not `/a b%2f/?x`",
            "4:14: server: `publicURL` is an address such as `https://am.example.test/am`, not `not an address`",
            "5:15: server: `cookieName` is the name of a cookie, without spaces and separators, not `a b;c`",
            "6:17: server: `cookieDomain` is a domain, such as `example.test`, not `x y;z`",
            "7:20: server: `foo` is no origin: that is a scheme, a host and perhaps a port, such as `https://app.example`, without a path; there is no `*`, because browsers send cookies to named servers only",
            "8:25: server: `webAuthnRelyingParty` is a domain, such as `example.test`, not `http://x y`",
            "10:12: users: `name` is a text without slashes, and not empty, not `a/b`",
            "12:10: clients: `id` is a text, and not empty, not ``",
            "12:28: clients: `foo` is no address that a login can end at: it has a scheme, of the web or of an app, and no fragment",
            "12:28: clients: `javascript:alert(1)` is no address that a login can end at: it has a scheme, of the web or of an app, and no fragment",
            "12:28: clients: `https://app.example/cb#x` is no address that a login can end at: it has a scheme, of the web or of an app, and no fragment"
        ),
        BadFile(
            "attributes",
            """
            attributes:
              mail: {policies: [not-empt, minimum-length, {maximum-length: 3}, {unique: 1}]}
              age: {type: numeric}
            """,
            "2:21: attribute `mail`: there is no policy `not-empt`: is `not-empty` meant? (there are `not-empty`, `unique`, `valid-email-address-format`, `minimum-length`, `maximum-length`, `at-least-X-capitals`, `at-least-X-numbers`, `minimum-number-value`, `maximum-number-value`)",
            "2:31: attribute `mail`: the policy `minimum-length` needs a whole number, without quotes: `minimum-length: 8`",
            "2:68: attribute `mail`: the policy `unique` has no limit: write `unique` alone",
            "3:15: attribute `age`: `type` is one of `string`, `number`, `boolean`, not `numeric`"),
        BadFile("journeys in a list", "journeys: [a]\n", "1:11: journeys: journeys stand here by their names, not a list"),
        BadFile(
            "a journey without nodes", "journeys:\n  J: {}\n",
            "2:3: journey `J`: a journey has `nodes`, each with its name, `type` and `outcomes`"),
    ]

    static let journeys: [BadFile] = [
        .journey(
            "an outcome that the node has not",
            "check: {type: DataStoreDecisionNode, outcomes: {tru: success, false: failure}}",
            "4:7: journey `J`, node `check`: outcome `true` leads nowhere: name a node, `success` or `failure` for it, or one for `otherwise`",
            "4:55: journey `J`, node `check`: Data Store Decision has no outcome `tru`: is `true` meant? (it has `true`, `false`)"
        ),
        .journey(
            "a target that there is not",
            "name: {type: UsernameCollectorNode, outcomes: {outcome: sucess}}",
            "4:63: journey `J`, node `name`: outcome `outcome` leads to `sucess`, which is no node: is `success` meant? (there are `name`, `success`, `failure`)"
        ),
        .journey(
            "a node without outcomes, and one that nothing leads to",
            "name: {type: UsernameCollectorNode}\nlost: {type: PasswordCollectorNode, outcomes: {otherwise: success}}",
            "4:7: journey `J`, node `name`: outcome `outcome` leads nowhere: name a node, `success` or `failure` for it, or one for `otherwise`",
            "5:7: journey `J`, node `lost`: no way leads here from `name`, where the journey begins: let an outcome of a node on the way lead here, or take the node out"
        ),
        .journey(
            "nodes that lead to each other, and nothing to them",
            "name: {type: UsernameCollectorNode, outcomes: {outcome: success}}\none: {type: PasswordCollectorNode, outcomes: {outcome: two}}\ntwo: {type: PasswordCollectorNode, outcomes: {outcome: one}}",
            "5:7: journey `J`, node `one`: no way leads here from `name`, where the journey begins: let an outcome of a node on the way lead here, or take the node out",
            "6:7: journey `J`, node `two`: no way leads here from `name`, where the journey begins: let an outcome of a node on the way lead here, or take the node out"
        ),
        BadFile(
            "a journey that begins nowhere: of its nodes nothing more is told",
            "journeys: {J: {entry: nam, nodes: {name: {type: UsernameCollectorNode, outcomes: {outcome: success}}}}}",
            "1:23: journey `J`: there is no node `nam` to begin with: is `name` meant? (there are `name`)"),
        .journey(
            "a circle that asks nobody",
            "name: {type: UsernameCollectorNode, outcomes: {outcome: check}}\ncheck: {type: DataStoreDecisionNode, outcomes: {otherwise: lock}}\nlock: {type: AccountLockoutNode, outcomes: {outcome: check}}",
            "5:7: journey `J`, node `check`: from here the journey goes round for ever and asks nobody (`check`, `lock`): let an outcome lead out, to `success`, `failure` or a node that asks"
        ),
        BadFile(
            "a circle by way of an inner journey that asks nobody; one that asks is none",
            """
            journeys:
              J:
                nodes:
                  quiet: {type: InnerTreeEvaluatorNode, tree: Quiet, outcomes: {otherwise: quiet}}
              K:
                nodes:
                  asking: {type: InnerTreeEvaluatorNode, tree: Outer, outcomes: {otherwise: asking}}
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
            "4:7: journey `J`, node `quiet`: from here the journey goes round for ever and asks nobody (`quiet`): let an outcome lead out, to `success`, `failure` or a node that asks"
        ),
        .journey(
            "an outcome that neither this node has nor AM's",
            "send: {type: PushAuthenticationSenderNode, outcomes: {SENT: success, NOT_REGISTERED: failure, SKIPED: failure}}",
            "4:101: journey `J`, node `send`: Push Sender has no outcome `SKIPED`: is `SKIPPED` meant? (it has `SENT`, `NOT_REGISTERED`, `SKIPPED`)"
        ),
        .journey(
            "addresses of a passkey that no browser has",
            "key: {type: WebAuthnAuthenticationNode, relyingPartyDomain: \"http://x y\", origins: [\"nonsense\"], outcomes: {otherwise: failure}}",
            "4:67: journey `J`, node `key`: `relyingPartyDomain` is a domain, such as `example.test`, not `http://x y`",
            "4:90: journey `J`, node `key`: `nonsense` is no origin: that is a scheme, a host and perhaps a port, such as `https://app.example`, without a path; there is no `*`, because browsers send cookies to named servers only"
        ),
        .journey(
            "an outcome without a target, and one target too many",
            "check: {type: DataStoreDecisionNode, outcomes: {true: , false: failure, otherwise: failure}}\n",
            "4:61: journey `J`, node `check`: outcome `true` leads nowhere: name a node, `success` or `failure`"),
        .journey(
            "otherwise, when there is nothing else",
            "check: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure, otherwise: failure}}\n",
            "4:86: journey `J`, node `check`: every outcome has a target: `otherwise` means nothing here"),
        .journey(
            "a type that there is not, and what would follow from it is not told",
            "name: {type: UserNameCollectorNode, prompt: x, outcomes: {outcome: there}}",
            "4:20: journey `J`, node `name`: there is no node type `UserNameCollectorNode`: is `UsernameCollectorNode` meant? (there are \(NodeType.all.map { "`\($0.name)`" }.joined(separator: ", ")))"
        ),
        .journey(
            "no type", "name: {outcomes: {outcome: success}}",
            "4:13: journey `J`, node `name`: `type` is missing: it is the name of a node type"),
        .journey(
            "a node that cannot be read, and what is wrong beside it",
            "check: {type: DataStoreDecisionNode, outcomes: {tru: success, otherwise: nam}}\nname: {typ: x, y: z}\nlost: {type: SuccessNode}",
            "4:55: journey `J`, node `check`: Data Store Decision has no outcome `tru`: is `true` meant? (it has `true`, `false`)",
            "4:80: journey `J`, node `check`: outcome `otherwise` leads to `nam`, which is no node: is `name` meant? (there are `check`, `name`, `lost`, `success`, `failure`)",
            "5:13: journey `J`, node `name`: `type` is missing: it is the name of a node type; is `typ` meant to be it?"),
        .journey(
            "a property that there is not",
            "limit: {type: RetryLimitDecisionNode, retryLimits: 3, outcomes: {otherwise: failure}}",
            "4:45: journey `J`, node `limit`: there is no setting `retryLimits`: is `retryLimit` meant? (here are `outcomes`, `type`, `retryLimit`)"
        ),
        .journey(
            "a node that is named like an end",
            "success: {type: UsernameCollectorNode, outcomes: {outcome: success}}",
            "4:7: journey `J`, node `success`: `success` is an end that every journey has: give the node another name"),
        .journey(
            "what cannot be on a page",
            "page:\n  type: PageNode\n  nodes: [{type: DataStoreDecisionNode}, {type: UsernameCollectorNode, prompt: x}]\n  outcomes: {outcome: success}",
            "6:24: journey `J`, node `page`, on the page: `DataStoreDecisionNode` asks nothing, and cannot be on a page: let an outcome of the page lead to it",
            "6:78: journey `J`, node `page`, on the page: there is no setting `prompt`; here are `type`"),
        .journey(
            "what can only be the last on a page, and what needs one of its own",
            "page:\n  type: PageNode\n  nodes:\n    - {type: ChoiceCollectorNode, choices: [a, b]}\n    - {type: UsernameCollectorNode}\n    - {type: PushWaitNode}\n    - {type: PageNode, nodes: [{type: PasswordCollectorNode}]}\n    - {type: ScriptedDecisionNode}\n  outcomes: {outcome: success}",
            "7:20: journey `J`, node `page`, on the page: `ChoiceCollectorNode` gives the page its outcomes, and only the last node can: move it to the end of `nodes`",
            "9:20: journey `J`, node `page`, on the page: `PushWaitNode` needs a page of its own: let an outcome of this page lead to it",
            "10:20: journey `J`, node `page`, on the page: `PageNode` needs a page of its own: let an outcome of this page lead to it",
            "11:20: journey `J`, node `page`, on the page: `ScriptedDecisionNode` asks nothing, and cannot be on a page: let an outcome of the page lead to it"
        ),
        .journey(
            "what is refused on a page, without guesses at the page's outcomes",
            "page:\n  type: PageNode\n  nodes: [{type: UsernameCollectorNode}, {type: DataStoreDecisionNode}]\n  outcomes: {true: success, false: lost}\nlost: {type: FailureNode}",
            "6:55: journey `J`, node `page`, on the page: `DataStoreDecisionNode` asks nothing, and cannot be on a page: let an outcome of the page lead to it"
        ),
        .journey(
            "what cannot be read on a page, without guesses at the page's outcomes but with their targets",
            "page:\n  type: PageNode\n  nodes: [{type: UsernameCollectorNode}, {type: ChoiceColectorNode, choices: [a, b]}]\n  outcomes: {a: success, b: lots}\nlost: {type: FailureNode}",
            "6:55: journey `J`, node `page`, on the page: there is no node type `ChoiceColectorNode`: is `ChoiceCollectorNode` meant? (there are \(NodeType.all.map { "`\($0.name)`" }.joined(separator: ", ")))",
            "7:35: journey `J`, node `page`: outcome `b` leads to `lots`, which is no node; there are `page`, `lost`, `success`, `failure`",
            "8:7: journey `J`, node `lost`: no way leads here from `page`, where the journey begins: let an outcome of a node on the way lead here, or take the node out"
        ),
        .journey(
            "outcomes of a page that are not those of its last node",
            "page:\n  type: PageNode\n  nodes: [{type: UsernameCollectorNode}, {type: ChoiceCollectorNode, choices: [a, b]}]\n  outcomes: {outcome: success, b: failure}",
            "4:7: journey `J`, node `page`: outcome `a` leads nowhere: name a node, `success` or `failure` for it, or one for `otherwise`",
            "7:20: journey `J`, node `page`: Page has no outcome `outcome`; it has `a`, `b`"),
        .journey(
            "a page with nothing on it", "page: {type: PageNode, outcomes: {outcome: success}}",
            "4:13: journey `J`, node `page`: a page without `nodes` shows nothing: list the collectors that are on it"),
        .journey(
            "choices",
            "choice: {type: ChoiceCollectorNode, choices: [a, b, a], defaultChoice: c, outcomes: {otherwise: failure}}",
            "4:52: journey `J`, node `choice`: a choice is there twice",
            "4:78: journey `J`, node `choice`: `c` is none of the choices; there are `a`, `b`, `a`"),
        .journey(
            "a table",
            "script:\n  type: ScriptedDecisionNode\n  table:\n    - {when: {name: x}, outcome: a}\n    - {when: x}\n    - {when: {username: {a: b}}, outcome: a}\n  outcomes: {otherwise: failure}",
            "7:21: journey `J`, node `script`, row: a table cannot look at `name`; it can look at `username`, `realm`, `journey`, `userAgent`, `collected.NAME`, `user.CLAIM`, `answer`, `answer.INPUT`, `devices.KIND`",
            "8:13: journey `J`, node `script`, row: `outcome` is missing: it is the name of an outcome",
            "8:20: journey `J`, node `script`, row: `when` is values by inputs, `{username: demo}`, not a single value",
            "9:31: journey `J`, node `script`, row: `username` is compared with a text, or with each of a list of texts"),
        .journey(
            "a failure's attribute and policies without the reason that has them",
            "one: {type: ChoiceCollectorNode, choices: [a, b, c], outcomes: {a: two, b: three, c: four}}\ntwo: {type: FailureNode, reason: lockedOut, attribute: mail}\nthree: {type: FailureNode, policies: [not-empty]}\nfour: {type: FailureNode, policies: [not-empty], reason: lost}",
            "5:62: journey `J`, node `two`: `attribute` means nothing without `reason: policyFailure`: add that, or take `attribute` out",
            "6:44: journey `J`, node `three`: `policies` means nothing without `reason: policyFailure`: add that, or take `policies` out",
            "7:64: journey `J`, node `four`: `reason` is one of `loginFailure`, `lockedOut`, `policyFailure`, not `lost`"),
        .journey(
            "an inner journey that there is not, and one that is inside of itself",
            "one: {type: InnerTreeEvaluatorNode, tree: K, outcomes: {true: two, false: failure}}\ntwo: {type: InnerTreeEvaluatorNode, tree: J, outcomes: {otherwise: failure}}",
            "2:3: journey `J`: it contains itself through its inner journeys and would never end",
            "4:7: journey `J`, node `one`: there is no journey `K`; there are `J`"),
    ]

    @Test("Each is named with line, column, node and the way out; all of them are", arguments: files + journeys)
    func table(file: BadFile) {
        #expect(problems(file.text) == file.problems)
    }

    @Test("What the file says of passwords and secrets is in no message")
    func secrets() {
        let text = """
            users:
              - {name: mira, password: {horse: staple}, passwordHash: horse-hash, lockd: 1}
              - {name: noa, password:horse}
              - {name: ada, password horse}
            clients:
              - {id: app, secret: [horse-secret]}
              - {id: other, secret:horse}
            """
        let all = problems(text).joined(separator: "\n")
        #expect(all.contains("lockd") && !all.contains("horse") && !all.contains("staple"))
    }

    @Test("A file that is too large, and values that are nested too deeply, are refused")
    func limits() {
        #expect(problems("# " + String(repeating: "x", count: 5 << 20)) == ["1:1: the file is larger than 4 MiB"])
        for (open, close) in [("[", "]"), ("{a: ", "}")] {
            for depth in [100, 900, 20_000] {
                let nested = String(repeating: open, count: depth) + "x" + String(repeating: close, count: depth)
                #expect(problems("users: " + nested).count == 1)
            }
        }
    }
}
