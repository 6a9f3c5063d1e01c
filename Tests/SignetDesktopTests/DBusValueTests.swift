import Testing

@testable import SignetDesktop

@Suite("Values, rules and addresses of the message bus")
struct DBusValueTests {
    @Test(
        "A value has the type of the D-Bus Specification",
        arguments: [
            (.byte(1), "y"), (.boolean(true), "b"), (.int16(-1), "n"), (.uint16(1), "q"), (.int32(-1), "i"), (.uint32(1), "u"),
            (.int64(-1), "x"), (.uint64(1), "t"), (.double(0.5), "d"), (.string("a"), "s"), (.objectPath("/"), "o"),
            (.signature("as"), "g"), (.handle(0), "h"), (.strings(["a"]), "as"), (.options(["a": .byte(1)]), "a{sv}"),
            (.texts(["a": "b"]), "a{ss}"), (.structure([.string("a"), .variant(.byte(1))]), "(sv)"),
            (.array(of: "ay", [.array(of: "y", [])]), "aay"),
        ] as [(DBusValue, String)])
    func valueHasType(value: DBusValue, type: String) {
        #expect(value.type == type)
    }

    @Test("A rule for signals quotes its values, an apostrophe outside of the quotation marks")
    func ruleQuotesValues() {
        let plain = DBusMatch(sender: ":1.5", interface: "a.b")
        #expect(plain.text == "type='signal',sender=':1.5',interface='a.b'")
        let full = DBusMatch(sender: ":1.5", path: "/a", interface: "a.b", member: "C", argument: "it's,path='/b'")
        #expect(
            full.text
                == #"type='signal',sender=':1.5',interface='a.b',path='/a',member='C',arg0='it'\''s,path='\''/b'\'''"#)
    }

    @Test("A rule fits only signals of its sender, also when no other part is given")
    func ruleComparesSender() {
        var signal = DBusMessage.signal("/a", "a.b", "C", [.string("first")])
        signal.sender = ":1.5"
        #expect(DBusMatch(sender: ":1.5", interface: "a.b").matches(signal))
        #expect(DBusMatch(sender: ":1.5", path: "/a").matches(signal))
        #expect(DBusMatch(sender: ":1.5", path: "/a", interface: "a.b", member: "C", argument: "first").matches(signal))
        for other in [
            DBusMatch(sender: ":1.6", interface: "a.b"), DBusMatch(sender: ":1.5", interface: "a.c"),
            DBusMatch(sender: ":1.5", path: "/b", interface: "a.b"), DBusMatch(sender: ":1.5", interface: "a.b", member: "D"),
            DBusMatch(sender: ":1.5", interface: "a.b", argument: "second"),
        ] {
            #expect(!other.matches(signal), "\(other.text)")
        }
        signal.kind = .methodCall
        #expect(!DBusMatch(sender: ":1.5", interface: "a.b").matches(signal))
    }

    @Test(
        "The session bus is found by its variable, and by the user's runtime directory without it",
        arguments: [
            (["DBUS_SESSION_BUS_ADDRESS": "unix:path=/a", "XDG_RUNTIME_DIR": "/b"], "unix:path=/a"),
            (["DBUS_SESSION_BUS_ADDRESS": "unix:abstract=/a,guid=0;unix:path=/b"], "unix:abstract=/a,guid=0;unix:path=/b"),
            (["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "/run/user/1000"], "unix:path=/run/user/1000/bus"),
            (["XDG_RUNTIME_DIR": "/a b,c;d=%"], "unix:path=/a%20b%2cc%3bd%3d%25/bus"),
            ([:], nil), (["XDG_RUNTIME_DIR": "relative"], nil),
            (["DBUS_SESSION_BUS_ADDRESS": "autolaunch:"], nil), (["DBUS_SESSION_BUS_ADDRESS": "unixexec:path=/bin/sh"], nil),
            (["DBUS_SESSION_BUS_ADDRESS": "unix:path=/a;tcp:host=example.com,port=1"], nil),
            (["DBUS_SESSION_BUS_ADDRESS": ";"], nil),
        ] as [([String: String], String?)])
    func findsSessionBus(environment: [String: String], address: String?) {
        let found = try? DBusAddress.session(in: environment)
        #expect(found == address)
    }

    @Test("The system bus has its usual socket, unless a variable names another Unix socket")
    func findsSystemBus() throws {
        #expect(try DBusAddress.system(in: [:]) == "unix:path=/run/dbus/system_bus_socket")
        #expect(try DBusAddress.system(in: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/a"]) == "unix:path=/a")
        let network = try? DBusAddress.system(in: ["DBUS_SYSTEM_BUS_ADDRESS": "tcp:host=example.com"])
        #expect(network == nil)
    }

    @Test("The error of another program is one line of 200 characters at most")
    func remoteErrorIsOneLine() {
        let error = DBusError(refusedAs: "a.b.C", "one\ntwo\u{1B}[2J\u{202E}" + String(repeating: "x", count: 300))
        #expect(error.description.hasPrefix("a.b.C: onetwo[2Jx"))
        #expect(error.description.count == "a.b.C: ".count + 200)
        #expect(error.code == .refused)
        #expect(error.name == "a.b.C")
    }
}
