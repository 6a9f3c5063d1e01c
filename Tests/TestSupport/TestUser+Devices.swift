import SignetAuthenticator
package import SignetCore
import SignetJourney
package import SignetNetwork
import SignetStorage
import SignetTesting

extension TestUser {
    /// Registers an authenticator for codes and push messages, a bound device and the profile of a device, with the journeys of the
    /// starter file.
    ///
    /// The names of the devices are AM's own for codes, `Phone`, `Tablet` and `Laptop`.
    /// - Parameter transport: The transport to the server.
    /// - Returns: The session of the last journey.
    /// - Throws: The errors of the journeys and of the enrollment; ``UnexpectedState`` when a journey takes another course.
    package func registerDevices(over transport: any HTTPTransport) async throws -> SSOToken {
        let waiting = try await begin("CombinedRegistration")
        guard let uri = waiting.hiddenValue("mfaDeviceRegistration") else { throw UnexpectedState() }
        let authenticator = Authenticator(
            store: AccountRecords(unsealed: MemoryStore()), transport: transport,
            device: PushDevice(token: "token-1", name: "Phone"))
        _ = try await authenticator.enroll(uri: uri)
        guard try await finish(waiting) == nil else { throw UnexpectedState() }
        try await bindDevice()
        return try await sendProfile()
    }

    private func bindDevice() async throws {
        var step = try await begin("DeviceBinding")
        step = try await TemporaryDirectory.with { directory in
            let vault = try Vault.create(in: MemoryStore(), protector: KeyFile.create(path: directory.file("key")))
            let binding = DeviceBinding(
                VaultDeviceKeys(vault), for: journey.profile,
                device: DeviceBinding.Device(identifier: "tablet-1", name: "Tablet", application: "org.example.app"))
            var answered = step
            _ = try await answered.answerDeviceBinding(with: binding)
            return answered
        }
        guard case .loggedIn = try await journey.next(step) else { throw UnexpectedState() }
    }

    private func sendProfile() async throws -> SSOToken {
        var step = try await begin("DeviceProfileCallback")
        let profile = DeviceProfile(
            identifier: "laptop-1", metadata: ["platform": .object(["deviceName": "Laptop"])],
            location: DeviceProfile.Location(latitude: 47.5, longitude: 8.25))
        try step.fill(DeviceProfileCallback.self) { $0.fill(profile) }
        guard case .loggedIn(let session) = try await journey.next(step) else { throw UnexpectedState() }
        return session
    }
}
