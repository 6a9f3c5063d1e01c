import FRAuth
import Foundation
import SignetCore
import SignetStorage
import SignetTesting
import Testing

@Suite("Device collectors of FRAuth")
struct DeviceCollectorTests {
    /// A collector that calls its completion at once.
    private struct Section: DeviceCollector {
        let name: String
        let data: [String: String]
        func collect(completion: @escaping DeviceCollectorCallback) { completion(data) }
    }

    /// Returns what a collector collects.
    private func profile(of collector: some DeviceCollector) throws -> [String: Any] {
        var profiles: [[String: Any]] = []
        collector.collect { profiles.append($0) }
        #expect(profiles.count == 1)
        return try #require(profiles.first)
    }

    @Test("The process's collector collects the version, the SDK's sections and those of the app")
    func collectsSectionsOfApp() throws {
        try FRAuthProcess.$current.withValue(FRAuthProcess()) {
            FRDeviceCollector.shared.collectors.append(Section(name: "custom", data: ["custom-key": "custom-value"]))
            let profile = try profile(of: FRDeviceCollector.shared)
            #expect(profile["version"] as? String == "1.0")
            #expect(profile["identifier"] as? String == FRDevice.currentDevice?.identifier.getIdentifier())
            #expect((profile["custom"] as? [String: Any])?["custom-key"] as? String == "custom-value")
            for name in ["platform", "hardware", "network", "bluetooth"] { #expect(profile[name] is [String: Any], "\(name)") }
            var viaDevice: [String: Any] = [:]
            FRDevice.currentDevice?.getProfile { viaDevice = $0 }
            if FRDevice.currentDevice != nil { #expect(viaDevice["custom"] != nil) }
        }
        #expect(FRDeviceCollector().collectors.isEmpty)
    }

    @Test("DeviceProfileCallback collects the parts that the server asks for and enters them as JSON")
    func entersCollectedProfile() throws {
        try FRAuthProcess.$current.withValue(FRAuthProcess()) {
            FRDeviceCollector.shared.collectors.append(Section(name: "location", data: ["latitude": "1"]))
            let callback = try DeviceProfileCallback(
                json: callbackJSON(
                    "DeviceProfileCallback",
                    output: ["metadata": .bool(true), "location": .bool(true), "message": .string("m")], inputs: [""]))
            #expect(callback.metadataRequired && callback.locationRequired && callback.message == "m")
            #expect(callback.locationCollector?.name == "location" && callback.collector.collectors.count == 2)
            callback.profileCollector.collectors = [Section(name: "platform", data: ["p": "q"])]
            var reported: [String: Any] = [:]
            callback.execute { reported = $0 }
            #expect((reported["location"] as? [String: Any])?["latitude"] as? String == "1")
            let entered = try JSON.value(of: try #require(callback.getValue() as? String).utf8)
            #expect(entered["metadata"]?["platform"]?["p"] == .string("q") && entered["location"]?["latitude"] == .string("1"))
            #expect(entered["version"] == .string("1.0"))
        }
        let silent = try DeviceProfileCallback(
            json: callbackJSON("DeviceProfileCallback", output: ["metadata": .bool(false)], inputs: [""]))
        #expect(silent.collector.collectors.isEmpty && silent.locationCollector == nil)
    }

    @Test("A keychain service keeps the device's identifier, also one that was stored before")
    func keepsIdentifier() {
        let memory = MemoryStore()
        let service = KeychainService(
            service: "identifier", accessGroup: "group", in: VaultProvider { () throws(StoreError) in memory })
        FRAuthProcess.$current.withValue(FRAuthProcess()) {
            let first = FRDeviceIdentifier(keychainService: service).getIdentifier()
            #expect(first.count >= 32 && FRDeviceIdentifier(keychainService: service).getIdentifier() == first)
            if let device = FRDevice.currentDevice { #expect(device.identifier.getIdentifier() == first) }
            let key = "com.forgerock.ios.device-identifier.hash-base64-string-identifier"
            #expect(service.getString(key) == first && service.set("stored before", key: key))
            #expect(FRDeviceIdentifier(keychainService: service).getIdentifier() == "stored before")
        }
        // A vault that can't be used doesn't keep a program from its identifier.
        let broken = VaultProvider { () throws(StoreError) in throw StoreError(.denied, "open the vault", "locked") }
        #expect(FRDeviceIdentifier(keychainService: KeychainService(service: "s", in: broken)).getIdentifier().count >= 32)
    }

    @Test("An identifier that cannot be read now is not replaced")
    func keepsUnreadableIdentifier() {
        let store = FaultyStore(MemoryStore())
        let service = KeychainService(service: "identifier", in: VaultProvider { () throws(StoreError) in store })
        let key = "com.forgerock.ios.device-identifier.hash-base64-string-identifier"
        #expect(service.set("stored before", key: key))
        // Only the reading fails: a write after it would replace the identifier.
        store.inject(StoreFault(.busy, at: .begin, .when { !$0.isWriting }))
        FRAuthProcess.$current.withValue(FRAuthProcess()) {
            #expect(FRDeviceIdentifier(keychainService: service).getIdentifier() != "stored before")
            store.reset()
            #expect(FRDeviceIdentifier(keychainService: service).getIdentifier() == "stored before")
        }
    }

    @Test("Tasks that store an identifier at the same time get the same one")
    func storesOneIdentifier() async {
        let store = MemoryStore()
        let identifiers = await withTaskGroup(of: String?.self) { group in
            for number in 0..<16 {
                group.addTask {
                    let service = KeychainService(service: "s", in: VaultProvider { () throws(StoreError) in store })
                    return service.getString("key", orStore: "identifier \(number)")
                }
            }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(identifiers.count == 1 && !identifiers.contains(nil))
    }

    @Test("The SDK's collectors name their sections")
    func namesSections() throws {
        let collectors: [any DeviceCollector] = [
            PlatformCollector(), HardwareCollector(), NetworkCollector(), ProfileCollector(),
        ]
        #expect(collectors.map(\.name) == ["platform", "hardware", "network", "metadata"])
        let sections = try profile(of: ProfileCollector())
        #expect(sections["platform"] is [String: Any] && sections["hardware"] is [String: Any])
    }
}
