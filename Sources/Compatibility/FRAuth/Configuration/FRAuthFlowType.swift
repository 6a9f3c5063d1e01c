/// The kind of a journey that the settings name: a login or a registration.
///
/// No function of this module takes or returns it. It is here for source code that names it.
public enum FRAuthFlowType: Int, Sendable {
    /// The journey of ``FROptions/authServiceName``, which ``FRUser/login(completion:)`` starts.
    case authentication
    /// The journey of ``FROptions/registrationServiceName``, which ``FRUser/register(completion:)`` starts.
    case registration
}
