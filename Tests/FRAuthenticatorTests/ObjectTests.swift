import Foundation
import SignetCore
import SignetTesting
import Testing

@testable import FRAuthenticator

/// Tests of the models as objects: classes, equality, members that an app sets, and Foundation's keyed archives.
@Suite("Models as objects")
struct ObjectTests {
    /// A client with one object of each kind.
    private static func objects() async throws -> (ClientFixture, Account, [Mechanism], PushNotification) {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        let (_, totp, push) = try await fixture.enrollBoth()
        let hotp = try await fixture.client.createMechanismFromUri(Sample.hotp)
        let notification = try fixture.receive(kind: .number(choices: [34, 56, 82]))
        return (fixture, try fixture.enrolled().account, [totp, hotp, push], notification)
    }

    @Test("Objects from the keyed archiver have the JSON and the class of the archived ones")
    func archivesModels() async throws {
        func archived<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object? {
            let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
            return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
        }
        let (_, account, mechanisms, notification) = try await Self.objects()
        account.displayIssuer = "Harbour"
        account.lock(policy: NamedPolicy(name: "custom"))
        #expect(try archived(account)?.toJson() == account.toJson())
        for mechanism in mechanisms {
            let copy = try #require(try archived(mechanism))
            #expect(copy.toJson() == mechanism.toJson())
            #expect(type(of: copy) == type(of: mechanism))
        }
        #expect(try archived(notification)?.toJson() == notification.toJson())
        let token = PushDeviceToken(tokenId: "AB01", timeAdded: Date(timeIntervalSince1970: 1_735_689_600.123))
        let copy = try #require(try archived(token))
        #expect(copy == token)
        #expect(copy.timeAdded.timeIntervalSince1970 == token.timeAdded.timeIntervalSince1970)
        let together = try NSKeyedArchiver.archivedData(
            withRootObject: [account, mechanisms[0]] as NSArray, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSArray.self, Account.self, Mechanism.self], from: together)
        #expect((read as? NSArray)?.count == 2)
    }

    /// An archive in the layout of the ForgeRock SDK for iOS: a class, and values under its keys.
    private static func archive(_ classes: [String], _ values: [(String, String)], _ texts: [String]) -> Data {
        let members = values.map { "<key>\($0)</key>\($1)" }.joined()
        let names = classes.map { "<string>FRAuthenticator.\($0)</string>" }.joined()
        return Data(
            """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
            <key>$archiver</key><string>NSKeyedArchiver</string><key>$version</key><integer>100000</integer>
            <key>$top</key><dict><key>root</key>\(reference(1))</dict>
            <key>$objects</key><array><string>$null</string>
            <dict><key>$class</key>\(reference(2))\(members)</dict>
            <dict><key>$classname</key><string>FRAuthenticator.\(classes[0])</string>
            <key>$classes</key><array>\(names)<string>NSObject</string></array></dict>
            \(texts.map { "<string>\($0)</string>" }.joined())</array></dict></plist>
            """.utf8)
    }

    private static func reference(_ index: Int) -> String { "<dict><key>CF$UID</key><integer>\(index)</integer></dict>" }

    @Test("An archive in the layout of the ForgeRock SDK for iOS is read")
    func readsArchiveOfForgeRockSDK() throws {
        let account = Self.archive(
            ["Account"],
            [
                ("issuer", Self.reference(3)), ("displayIssuer", Self.reference(0)), ("accountName", Self.reference(4)),
                ("displayAccountName", Self.reference(0)), ("imageUrl", Self.reference(0)),
                ("backgroundColor", Self.reference(5)), ("timeAdded", "<real>1735689600.5</real>"),
                ("policies", Self.reference(6)), ("lockingPolicy", Self.reference(7)), ("lock", "<true/>"),
            ], ["Harbor Bank", "mira", "336699", #"{"custom":{}}"#, "custom"])
        let harbor = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Account.self, from: account))
        #expect(harbor.identifier == Sample.identifier && harbor.displayIssuer == "Harbor Bank")
        #expect(harbor.timeAdded == Date(timeIntervalSince1970: 1_735_689_600.5))
        #expect(harbor.lockingPolicy == "custom" && harbor.policies == #"{"custom":{}}"#)

        let hotp = Self.archive(
            ["HOTPMechanism", "OathMechanism", "Mechanism"],
            [
                ("mechanismUUID", Self.reference(3)), ("type", Self.reference(4)), ("version", "<integer>1</integer>"),
                ("secret", Self.reference(5)), ("issuer", Self.reference(6)), ("accountName", Self.reference(7)),
                ("uid", Self.reference(0)), ("resourceId", Self.reference(0)), ("timeAdded", "<real>1735689600</real>"),
                ("algorithm", Self.reference(8)), ("digits", "<integer>6</integer>"), ("counter", "<integer>7</integer>"),
            ], ["b1c0", "hotp", Sample.oathSecret, "Harbor Bank", "mira", "sha1"])
        let mechanism = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Mechanism.self, from: hotp))
        #expect((mechanism as? HOTPMechanism)?.counter == 7)
        #expect(mechanism.identifier == "Harbor Bank-mira-hotp" && mechanism.mechanismUUID == "b1c0")
    }

    @Test("A mechanism is decoded as the class of its type, and a class refuses the other types")
    func decodesMechanismOfEachClass() async throws {
        let (_, _, mechanisms, _) = try await Self.objects()
        for mechanism in mechanisms {
            let data = try JSONEncoder().encode(mechanism)
            let decoded = try JSONDecoder().decode(Mechanism.self, from: data)
            #expect(type(of: decoded) == type(of: mechanism))
            #expect(decoded.toJson() == mechanism.toJson())
            let oath = try? JSONDecoder().decode(OathMechanism.self, from: data)
            #expect((oath == nil) == (mechanism is PushMechanism))
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(PushMechanism.self, from: JSONEncoder().encode(mechanisms[0]))
        }
    }

    @Test("Objects are equal when they are the same object, and codes and tokens when their values are")
    func comparesObjects() async throws {
        let (fixture, account, mechanisms, notification) = try await Self.objects()
        let again = try #require(fixture.client.getAccount(identifier: Sample.identifier))
        #expect(account == account && account != again)
        #expect([again, account].firstIndex(of: account) == 1)
        #expect(Set<NSObject>(mechanisms + [account, notification, account]).count == 5)
        let date = Sample.start
        #expect(PushDeviceToken(tokenId: "AB01", timeAdded: date) == PushDeviceToken(tokenId: "AB01", timeAdded: date))
        #expect(
            Set([PushDeviceToken(tokenId: "AB01", timeAdded: date), PushDeviceToken(tokenId: "AB02", timeAdded: date)]).count == 2
        )
        let totp = try #require(mechanisms[0] as? TOTPMechanism)
        let (first, second) = (try totp.generateCode(), try totp.generateCode())
        #expect(first == second && first !== second && first.hash == second.hash)
        #expect(try JSONDecoder().decode(OathTokenCode.self, from: JSONEncoder().encode(first)) == first)
    }

    @Test("Digits and period that an app sets are those of the object's codes, and the store keeps the enrolled ones")
    func setsDigitsAndPeriodOfObject() async throws {
        let (fixture, _, mechanisms, _) = try await Self.objects()
        let totp = try #require(mechanisms[0] as? TOTPMechanism)
        let enrolledCode = try totp.generateCode().code
        totp.digits = 8
        totp.period = 60
        let code = try totp.generateCode()
        let seconds = code.until.map { $0 - code.start }
        #expect(code.code.count == 8 && seconds == 60)
        // A number that no code can have changes nothing.
        totp.digits = 3
        totp.period = 0
        #expect(totp.digits == 8 && totp.period == 60)
        let stored = try #require(fixture.client.getMechanismByUUID(totp.mechanismUUID) as? TOTPMechanism)
        #expect(stored.digits == 6 && stored.period == 30)
        #expect(try stored.generateCode().code == enrolledCode)

        let hotp = try #require(mechanisms[1] as? HOTPMechanism)
        hotp.digits = 8
        #expect(try hotp.generateCode().code.hasSuffix("099169"))
        #expect(try hotp.generateCode().code.hasSuffix("802135"))
        #expect(hotp.digits == 8 && hotp.counter == 9)
        let kept = try #require(fixture.client.getMechanismByUUID(hotp.mechanismUUID) as? HOTPMechanism)
        #expect(kept.digits == 6 && kept.counter == 9)
    }

    @Test("A time and a lifetime that an app sets are the notification object's own")
    func setsTimesOfNotificationObject() async throws {
        let (fixture, _, _, notification) = try await Self.objects()
        #expect(notification.identifier == "\(notification.mechanismUUID)-1735689600000")
        let identifier = notification.identifier
        notification.ttl = 30
        notification.timeAdded = Sample.start.addingTimeInterval(-60)
        #expect(notification.ttl == 30 && notification.timeExpired == Sample.start.addingTimeInterval(-30))
        #expect(notification.isExpired)
        #expect(notification.identifier == "\(notification.mechanismUUID)-1735689540000")
        notification.ttl = -1
        notification.ttl = .infinity
        #expect(notification.ttl == 30)
        let read = try PushNotification.fromJson(notification.toJson() ?? "")
        #expect(read.ttl == 30 && read.timeAdded == notification.timeAdded)
        // The answer is for the message as it was received.
        try await notification.accept(challengeResponse: "56")
        let stored = try #require(fixture.client.getNotification(identifier: identifier))
        #expect(stored.isApproved && stored.ttl == 120)
    }

    @Test("Notifications that an app sets are the mechanism object's own")
    func setsNotificationsOfMechanismObject() async throws {
        let (fixture, _, mechanisms, notification) = try await Self.objects()
        let push = try #require(mechanisms[2] as? PushMechanism)
        push.notifications = [notification]
        #expect(push.notifications == [notification] && push.pendingNotifications == [notification])
        push.notifications = []
        #expect(fixture.client.getAllNotifications(mechanism: push).count == 1)
    }

    @Test("A notification is found by its mechanism and time, as in the ForgeRock SDK, until it is removed")
    func findsNotificationByIdentifier() async throws {
        let (fixture, _, _, notification) = try await Self.objects()
        #expect(fixture.client.getNotification(identifier: notification.identifier)?.messageId == notification.messageId)
        #expect(fixture.client.getNotification(identifier: notification.identifier + "0") == nil)
        #expect(fixture.client.removeNotification(notification: notification))
        #expect(fixture.client.getNotification(identifier: notification.identifier) == nil)
    }

    @Test(
        "The token's JSON has the seconds of the ForgeRock SDK for iOS, and Android's milliseconds are read",
        arguments: [
            ("1735689600", 1_735_689_600), ("1735689600.25", 1_735_689_600.25), ("1735689600250", 1_735_689_600.25),
            (#""1735689600""#, nil), ("true", nil), ("null", nil),
        ] as [(String, Double?)])
    func readsTimeOfToken(time: String, seconds: Double?) throws {
        let token = try? PushDeviceToken.fromJson(#"{"tokenId":"AB01","timeAdded":\#(time)}"#)
        #expect(token?.timeAdded.timeIntervalSince1970 == seconds)
        guard let token else { return }
        let coded = try JSONDecoder().decode(PushDeviceToken.self, from: JSONEncoder().encode(token))
        #expect(coded == token)
        #expect(try PushDeviceToken.fromJson(token.toJson() ?? "") == token)
    }

    @Test("A mechanism of the Android SDK that has no time sorts before all others")
    func readsMechanismWithoutTime() throws {
        let mechanism = try Mechanisms.fromJson(
            #"{"id":"Harbor Bank-mira-otpauth","mechanismUID":"b1c0","issuer":"Harbor Bank","accountName":"mira","secret":"KDJ7CDBN","type":"otpauth","oathType":"TOTP","algorithm":"SHA256","digits":6,"period":30}"#
        )
        #expect(mechanism.timeAdded == Date(timeIntervalSince1970: 0))
        #expect((mechanism as? OathMechanism)?.algorithm == .sha256)
    }
}
