// Bind this device to a user, and sign with its key later; the keys are sealed in a vault.
import SignetCore
import SignetJourney
import SignetStorage

// snippet.hide
func answer(_ step: JourneyStep, of journeys: Journey, vault: Vault) async throws -> JourneyState {
    var step = step
    // snippet.show
    let device = DeviceBinding.Device(
        identifier: DeviceProfileCollector.identifier(for: "org.example.app") ?? "unknown", name: "Mira's laptop",
        application: "org.example.app")
    let binding = DeviceBinding(VaultDeviceKeys(vault), for: journeys.profile, device: device)
    if step.first(DeviceSigningVerifierCallback.self) != nil { try await step.answerDeviceSigning(with: binding) }
    guard step.first(DeviceBindingCallback.self) != nil, let key = try await step.answerDeviceBinding(with: binding).key else {
        return try await journeys.next(step)
    }
    do {
        let next = try await journeys.next(step)
        try await binding.confirm(key)
        return next
    } catch let error as JourneyError where error.code == .loginFailed {
        try await binding.discard(key)
        throw error
    }
    // snippet.hide
}
