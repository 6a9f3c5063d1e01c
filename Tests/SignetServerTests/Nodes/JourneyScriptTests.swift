import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

/// A script, and the outcome or the message that it must lead to.
struct ScriptExample: Sendable, CustomTestStringConvertible {
    let source: String
    /// `yes`, `no`, or a part of the message of the refusal.
    let result: String

    init(_ source: String, _ result: String = "yes") { (self.source, self.result) = (source, result) }

    var testDescription: String { source }
}

@Suite("Scripts of a Scripted Decision", .timeLimit(.minutes(5)))
struct JourneyScriptTests {
    private static func journeys(_ script: String) -> String {
        """
        J:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: look, false: failure}}
            look:
              type: ScriptedDecisionNode
              script: \(JSON.text(of: .string(script)))
              outcomes: {"yes": success, "no": failure}
        """
    }

    private static func choose(_ condition: String) -> String { "outcome = \(condition) ? 'yes' : 'no';" }

    static let language: [ScriptExample] = [
        ScriptExample("outcome = 'yes';"), ScriptExample("outcome = \"no\"", "no"),
        ScriptExample("// a comment\n/* another\n one */ outcome = 'y' + 'es'"),
        ScriptExample("(function () { if (null != sharedState.get('x')) { outcome = 'no'; } else { outcome = 'yes'; } }());"),
        ScriptExample("var n = 0; for (var i = 0; i < 4; i++) { if (i == 2) { continue; } n += i; } " + choose("n === 4")),
        ScriptExample("let n = 8; while (n > 3) { n = n - 2; if (n < 5) break; } " + choose("n == 4")),
        ScriptExample("var all = ''; for (const x of ['a', 'b']) all += x; " + choose("all == 'ab'")),
        ScriptExample("switch (realm) { case '/x': outcome = 'no'; break; case '/': outcome = 'yes'; default: var z = 1; }"),
        ScriptExample("try { null.x; } catch (e) { outcome = 'yes'; } finally { var done = true; }"),
        ScriptExample("try { throw 'a' + 1; } catch (e) { " + choose("e.message == 'a1'") + " }"),
        ScriptExample("const double = x => x * 2; " + choose("double(21) === 42")),
        ScriptExample("const add = (x, y) => { return x + y; }; " + choose("add(1, 2) == 3")),
        ScriptExample("function f(n) { return n <= 1 ? 1 : n * f(n - 1); } " + choose("f(5) == 120")),
        ScriptExample(choose("`${realm}-${1 + 1}` == '/-2'")), ScriptExample(choose("typeof missing === 'undefined'")),
        ScriptExample(choose("null == undefined && null !== undefined && '1' == 1 && '1' !== 1")),
        ScriptExample(choose("(null ?? 'a') == 'a' && ('' || 'b') == 'b' && !0 && 7 % 4 == 3 && -1 < +'0'")),
        ScriptExample("var o = {a: 1, 'b': [1, 2]}; o.c = o.a + o.b.length; o['d'] = 4; " + choose("o.c == 3 && o.d == 4")),
        ScriptExample(choose("['a', 'b'].map(function (x) { return x + 1; }).filter(x => x != 'b1').join('-') == 'a1'")),
        ScriptExample(choose("'Ab,cd'.toLowerCase().split(',')[1].substring(0, 1) == 'c' && 'abc'.indexOf('c') == 2")),
        ScriptExample(choose("'a-b'.replace('-', '+') == 'a+b' && ' x '.trim() == 'x' && 'abc'.includes('bc')")),
        ScriptExample(choose("parseInt('42px') == 42 && isNaN(parseInt('x')) && Number('3') + 1 == 4")),
        ScriptExample(choose("JSON.parse('{\"a\": [1]}').a[0] == 1 && JSON.stringify({b: 'c'}) == '{\"b\":\"c\"}'")),
        ScriptExample(
            choose("parseInt('1-2') === 1 && parseInt('-7.9') === -7 && parseInt(' 0x1F') === 31 && isNaN(parseInt('-'))")),
        ScriptExample(choose("parseInt('101', 2) === 5 && parseInt('z', 36) === 35 && isNaN(parseInt('9', 8))")),
        ScriptExample(choose("parseFloat('1.5.2') === 1.5 && parseFloat('-.5e1x') === -5 && isNaN(parseFloat('.'))")),
        ScriptExample(choose("Math.round(-2.5) === -2 && Math.round(2.5) === 3 && Math.round(0.49999999999999994) === 0")),
        ScriptExample(choose("Math.max(1, 3, 2) === 3 && Math.min() > 1e9 && Math.abs(-2) === 2 && Math.trunc(-1.7) === -1")),
        ScriptExample(
            choose("(9.7 | 0) === 9 && (6 & 3) === 2 && (6 ^ 3) === 5 && ~5 === -6 && (1 << 4) === 16 && -8 >> 1 === -4")),
        ScriptExample(choose("(-1 >>> 28) === 15 && (1 | 2 && 4) === 4 && (5 & 4 == 4) === 1")),
        ScriptExample("var n = 5; n |= 8; n &= 12; n <<= 1; " + choose("n === 24")),
        ScriptExample(choose("encodeURIComponent('a b/é~*') === 'a%20b%2F%C3%A9~*' && decodeURIComponent('%C3%A9') === 'é'")),
        ScriptExample(choose("(255).toString(16) === 'ff' && (7).toString(10) == '7' && (1.255).toFixed(1) === '1.3'")),
        ScriptExample("var i = 5; var j = i++ + ++i; " + choose("j == 12 && i == 7")),
        ScriptExample("var x = 1\nvar y = 2\noutcome = x + y == 3 ? 'yes' : 'no'"),
    ]

    static let server: [ScriptExample] = [
        ScriptExample(choose("sharedState.get('username') === 'mira' && nodeState.get('username').asString() == 'mira'")),
        ScriptExample("nodeState.putShared('level', 2); " + choose("nodeState.get('level').asInteger() + 1 == 3")),
        ScriptExample(
            "sharedState.put('a', {b: [1, 'x']}); " + choose("sharedState.get('a').b[1] == 'x' && nodeState.isDefined('a')")),
        ScriptExample(
            "nodeState.mergeShared({a: 1, b: true}); nodeState.remove('a'); "
                + choose("nodeState.get('a') == null && nodeState.get('b')")),
        ScriptExample(
            "sharedState.put('objectAttributes', {givenName: 'Ann'}); "
                + choose("sharedState.get('objectAttributes').get('givenName') == 'Ann'")),
        ScriptExample(
            "var map = sharedState.get('objectAttributes'); sharedState.put('a', {b: 1}); var a = sharedState.get('a'); "
                + "if (a.put) { a.put('c', 2); a.d = 3; } " + choose("sharedState.get('a').c + nodeState.get('a').d === 5")),
        ScriptExample(
            "sharedState.put('objectAttributes', {mail: 'a@example.test'}); var map = sharedState.get('objectAttributes'); "
                + "map.put('sn', 'Ann'); map.remove('mail'); "
                + choose("sharedState.get('sn') == 'Ann' && sharedState.get('mail') == null")),
        ScriptExample(
            "sharedState.put('objectAttributes', {sn: 'Ann'}); var map = sharedState.get('objectAttributes'); "
                + "sharedState.put('x', 1); "
                + choose("map.keySet().contains('sn') && map === sharedState.get('objectAttributes')")),
        ScriptExample(
            "nodeState.putShared('a', {b: 1}); nodeState.get('a').put('c', 2); " + choose("nodeState.get('a').c === undefined")),
        ScriptExample(choose("nodeState.get('_id') == 'mira'")),
        ScriptExample(
            "requestParameters.put('a', ['b']); "
                + choose("Object.keys(requestParameters).includes('a') && requestParameters.get('a').get(0) == 'b'")),
        ScriptExample(
            "sharedState.put('level', 2); var text = transientState.toString(); "
                + choose("text.includes('mira') && text.includes('level') && !text.toLowerCase().includes('password')")),
        ScriptExample(choose("requestHeaders.toString().toLowerCase().includes('content-type')")),
        ScriptExample(choose("idRepository.getAttribute('noa', 'mail').iterator().next() == 'noa@example.test'")),
        ScriptExample(choose("idRepository.getIdentity('noa').getAttributeValues('givenName')[0] == 'Noa'")),
        ScriptExample(
            choose(
                "idRepository.getAttribute('mira', 'mail').isEmpty() && idRepository.getAttribute('nobody', 'mail').size() == 0")),
        ScriptExample(choose("requestHeaders.get('x-none') == null && requestParameters.get('realm') == null")),
        ScriptExample(choose("requestHeaders.get('Content-Type').get(0).startsWith('application/json')")),
        ScriptExample(choose("callbacks.isEmpty() && callbacks.size() == 0 && existingSession == null")),
        ScriptExample("logger.error('a'); action.goTo('yes');"),
        ScriptExample(
            "var fr = JavaImporter(org.forgerock.openam.auth.node.api.Action); action = fr.Action.goTo('yes').build();"),
        ScriptExample("var list = new java.util.ArrayList(); list.add('a'); " + choose("list.size() == 1")),
        ScriptExample(choose("Date.now() > 1500000000000 && new Date().getTime() == Date.now()")),
    ]

    static let patterns: [ScriptExample] = [
        ScriptExample(choose("/^[a-z]+$/.test('harbor') && !/^[a-z]+$/.test('Harbor') && /^[a-z]+$/i.test('Harbor')")),
        ScriptExample(choose("'a1b22'.replace(/\\d+/g, '#') === 'a#b#' && 'a1b22'.replace(/\\d+/, '#') === 'a#b22'")),
        ScriptExample(choose("'xxx-x'.replace(/[x]/g, function (c) { return c + 1; }) === 'x1x1x1-x1'")),
        ScriptExample(
            choose("'mira@example.test'.replace(/(\\w+)@(.*)/, '$2/$1[$&]$$') === 'example.test/mira[mira@example.test]$'")),
        ScriptExample(
            choose("'a-b'.replace(/(-)(c)?/, (all, dash, none, at) => dash + (none === undefined) + at) === 'a-true1b'")),
        ScriptExample(
            "var m = 'tel 040-123'.match(/(\\d+)-(\\d+)/); " + choose("m[0] == '040-123' && m[2] == '123' && m.index == 4")),
        ScriptExample(
            choose("'a1b2'.match(/[0-9]/g).join() == '1,2' && 'ab'.match(/\\d/) === null && 'ab'.match(/\\d/g) === null")),
        ScriptExample(choose("'a, b;c'.split(/[,;]\\s*/).join('|') == 'a|b|c' && 'abc'.split(/(?:)/).length === 3")),
        ScriptExample(choose("'abc'.search(/c/) === 2 && 'abc'.search(/d/) === -1")),
        ScriptExample(
            "var r = /a(b)?/g; r.exec('abaa'); var at = r.lastIndex; var m = r.exec('abaa'); "
                + choose("at === 2 && m.index === 2 && m[1] === undefined && r.lastIndex === 3")),
        ScriptExample("var r = /a/g; r.test('a'); r.lastIndex = 0; " + choose("r.test('a') && r.source == 'a' && r.global")),
        ScriptExample(
            choose(
                "new RegExp('^' + 'a.c' + '$', 'i').test('ABC') && RegExp(/b/).test('abc') && '' + /a\\/[/]/g == '/a\\\\/[/]/g'")),
        ScriptExample(choose("/^(?:a|ab)(?:c|bcd)(d*)$/.exec('abcd')[1] === ''")),
        ScriptExample(
            choose(
                "/(z)((a+)?(b+)?(c))*/.exec('zaacbbbcac')[3] === 'a' && /(z)((a+)?(b+)?(c))*/.exec('zaacbbbcac')[4] === undefined"
            )),
        ScriptExample(
            choose("/a{2,3}?/.exec('aaaa')[0] === 'aa' && /a{2,}/.exec('aaaa')[0] === 'aaaa' && /x{,2}/.test('x{,2}')")),
        ScriptExample(
            choose("/(?=a)\\w/.test('a') && /a(?!b)/.exec('abac').index === 2 && /(\\w)\\1/.exec('hello')[0] === 'll'")),
        ScriptExample(choose("/\\bis\\b/.test('this is') && !/\\bis\\b/.test('this')")),
        ScriptExample(choose("/^b$/m.test('a\\nb') && !/^b$/.test('a\\nb') && /a.b/s.test('a\\nb') && !/a.b/.test('a\\nb')")),
        ScriptExample(choose("/[^\\s\\d]/.exec('1 \\u00e9')[0] === '\\u00e9' && /(a*)*/.test('b')")),
        ScriptExample(choose("/[\\w.-]+/.exec('!a.b-c')[0] === 'a.b-c' && /[\\w-.]+/.exec('!a.b-c')[0] === 'a.b-c'")),
        ScriptExample(choose("'a.b.c'.replace('.', '-') === 'a-b.c' && 'a.b.c'.replaceAll('.', (dot, at) => at) === 'a1b3c'")),
        ScriptExample("var half = 8 / 2 / 2; " + choose("half === 2 && 'a'.length / 1 === 1")),
    ]

    static let refused: [ScriptExample] = [
        ScriptExample("var a = 1;\nhttpClient.send({});", "uses `httpClient` (line 2)"),
        ScriptExample("outcome = /(?<=a)b/.test('ab');", "uses a regular expression with `(?<` (line 1)"),
        ScriptExample("for (var x in {a: 1}) { }", "uses a loop over the names of members (`for ... in`) (line 1)"),
        ScriptExample("class A { }", "`class`"),
        ScriptExample("outcome = 'a'.normalize();", "uses `normalize()` of a text (line 1)"),
        ScriptExample("import groovy.json.JsonSlurper", "`import`"), ScriptExample("outcome = 'yes", "a string without an end"),
        ScriptExample("var client = new java.net.URL('x');", "uses `new java.net.URL()` (line 1)"),
        ScriptExample("while (true) { }", "takes too many steps"),
        ScriptExample("function f() { f(); } f();", "takes too many steps"),
        ScriptExample("var s = 'x'; for (var i = 0; i < 40; i++) s = s + s;", "builds a value that is too large"),
        ScriptExample("throw new Date().getTime() > 0 ? 'stop' : '';", "the script failed: stop"),
        ScriptExample("nodeState.get('none').asString();", "the script failed: `asString()` of null is called in line 1"),
        ScriptExample("outcome = 'maybe';", "the outcome `maybe`"), ScriptExample("var x = 1;", "has chosen no outcome"),
        ScriptExample(String(repeating: "(", count: 500), "more than 64 nested parts"),
        ScriptExample("var a = 1" + String(repeating: " + 1", count: 501), "more than 500 operators and calls in a statement"),
        ScriptExample("var a = {}; a" + String(repeating: ".a", count: 501), "more than 500 operators and calls in a statement"),
        ScriptExample("sharedState.put('f', function () { });", "cannot be a part of the state"),
        ScriptExample("outcome = /a/u.test('a');", "uses the flags `u` of a regular expression (line 1)"),
        ScriptExample("outcome = /\\p{L}/.test('a');", "uses a regular expression with `\\p` (line 1)"),
        ScriptExample("outcome = /(a/.test('a');", "uses a regular expression with a group without an end (line 1)"),
        ScriptExample("var x = 1;\nvar r = new RegExp('[z-a]');", "a range of characters in the wrong order (line 2)"),
        ScriptExample("outcome = /((a{99}){99}){99}/.test('a');", "uses a regular expression with too many repetitions (line 1)"),
        ScriptExample("outcome = /^(a+)+$/.test('" + String(repeating: "a", count: 40) + "b');", "takes too many steps"),
        ScriptExample("var s = 'x'.replace(/x/, 'y').normalize();", "uses `normalize()` of a text (line 1)"),
    ]

    @Test("A script runs as JavaScript does", arguments: language)
    func runsScriptLanguage(script: ScriptExample) async throws { try await check(script) }

    @Test("A regular expression matches as in JavaScript", arguments: patterns)
    func runsScriptPattern(script: ScriptExample) async throws { try await check(script) }

    @Test("A script sees the state, the request and the users", arguments: server)
    func scriptSeesServer(script: ScriptExample) async throws { try await check(script) }

    @Test("A script that cannot run says why when a login reaches it", arguments: refused)
    func saysWhyScriptCannotRun(script: ScriptExample) async throws { try await check(script) }

    private func check(_ script: ScriptExample) async throws {
        try await TestServer.run(journeys: Self.journeys(script.source)) { server in
            let reply = try await server.logIn("J")
            switch script.result {
            case "yes": #expect(reply.isLoggedIn, "\(reply.text)")
            case "no": #expect(reply.message == "Login failure", "\(reply.text)")
            default:
                #expect(reply.status == 501)
                let message = reply.message ?? ""
                #expect(message.hasPrefix("The script of node 'look' cannot run in signet serve: "))
                #expect(message.contains(script.result), "\(message)")
            }
        }
    }

    static let asking = [
        """
        var fr = JavaImporter(
            org.forgerock.openam.auth.node.api.Action, javax.security.auth.callback.ChoiceCallback,
            javax.security.auth.callback.TextOutputCallback)
        var choices = ['no', 'yes'];
        if (callbacks.isEmpty()) {
            action = fr.Action.send([
                new fr.TextOutputCallback(fr.TextOutputCallback.WARNING, 'Look'), new fr.ChoiceCallback('Choose', choices, 0, false)
            ]).build();
        } else {
            var index = parseInt(callbacks.get(1).getSelectedIndexes()[0]);
            nodeState.putShared('mode', choices[index]);
            action = fr.Action.goTo(choices[index]).putSessionProperty('mode', choices[index]).build();
        }
        """,
        """
        if (callbacks.isEmpty()) {
            callbacksBuilder.textOutputCallback(1, 'Look');
            callbacksBuilder.choiceCallback('Choose', ['no', 'yes'], 0, false);
        } else {
            var mode = ['no', 'yes'][callbacks.getChoiceCallbacks().get(0)[0]];
            nodeState.putShared('mode', mode);
            action.goTo(mode).putSessionProperty('mode', mode);
        }
        """,
    ]

    @Test("A script of each engine shows callbacks and reads the answers", arguments: asking, [1, 0])
    func scriptAsks(script: String, choice: Int64) async throws {
        try await TestServer.run(journeys: Self.journeys(script)) { server in
            var step = try await server.logIn("J").step
            #expect(step.callbacks.map(\.type) == ["TextOutputCallback", "ChoiceCallback"])
            #expect(step.callbacks[0].output("messageType") == "1" && step.callbacks[1].output("prompt") == "Choose")
            step.fill("ChoiceCallback", .integer(choice))
            let reply = try await server.next(step)
            #expect(reply.isLoggedIn == (choice == 1))
            guard choice == 1 else { return }
            let headers = [
                "iPlanetDirectoryPro": try #require(reply.json["tokenId"]?.string), "Content-Type": "application/json",
            ]
            let session = try await server.send(
                .post, "/am/json/realms/root/sessions?_action=getSessionInfo", headers: headers, body: "{}")
            #expect(session.json["properties"]?["mode"] == "yes")
        }
    }

    @Test("A later node finds the state that a script has set")
    func laterNodeFindsScriptState() async throws {
        let journeys = """
            J:
              nodes:
                login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: first, false: failure}}
                first: {type: ScriptedDecisionNode, script: "sharedState.put('level', 7); outcome = 'on'", outcomes: {"on": second}}
                second:
                  type: ScriptedDecisionNode
                  table: [{when: {collected.level: "7"}, outcome: found}]
                  default: lost
                  outcomes: {found: success, lost: failure}
            """
        try await TestServer.run(journeys: journeys) { server in
            let reply = try await server.logIn("J")
            #expect(reply.isLoggedIn)
        }
    }
}
